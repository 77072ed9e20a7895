// Buttons that copy the text of an element or save it as a file; where the browser forbids copying, the text is selected.
const button = (label, press) => {
  const node = document.createElement("button");
  node.type = "button";
  node.textContent = label;
  node.addEventListener("click", press);
  return node;
};
const copyButton = (source, label = "copy") => {
  const node = button(label, async () => {
    try { await navigator.clipboard.writeText(source.textContent); node.textContent = "copied"; } catch {
      for (let fold = source.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
      getSelection().selectAllChildren(source);
      node.textContent = "selected: copy it";
    }
    setTimeout(() => { node.textContent = label; }, 2000);
  });
  node.className = "copy";
  return node;
};
const downloadButton = (source, name, label = `download ${name}`) => {
  const node = button(label, () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([source.textContent], { type: "application/toml" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
  node.className = "copy";
  return node;
};
for (const text of document.querySelectorAll("pre.copied")) text.before(copyButton(text));
for (const code of document.querySelectorAll(".command code")) code.after(copyButton(code));
// The file of the verdict, where the verdict is.
const shipped = document.querySelector("#settings pre");
document.getElementById("take")?.append(copyButton(shipped, "copy settings.toml"), " ", downloadButton(shipped, "settings.toml"));
// What a link leads to is opened, whatever it is folded into.
const unfold = () => {
  const place = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  for (let fold = place && place.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  if (place) place.scrollIntoView();
};
addEventListener("hashchange", unfold);
// On paper are the charts that answer most questions; the others, and the tables of the appendix, are files beside the page.
addEventListener("beforeprint", () => { const charts = document.getElementById("charts"); if (charts) charts.open = true; });
