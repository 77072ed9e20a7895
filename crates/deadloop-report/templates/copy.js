// A button that copies the text of an element; where the browser forbids that, it selects the text.
const copyButton = (source) => {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "copy";
  button.addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(source.textContent); button.textContent = "copied"; } catch { getSelection().selectAllChildren(source); }
  });
  return button;
};
for (const text of document.querySelectorAll("pre.copied")) text.before(copyButton(text));
for (const code of document.querySelectorAll(".command code")) code.after(copyButton(code));
