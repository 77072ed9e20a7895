// The model that the page is about, by its visible name; null: all of them. Everything that follows it watches.
const only = {
  model: null, watchers: [],
  watch(follow) { this.watchers.push(follow); },
  set(model) {
    this.model = model;
    const bar = document.getElementById("only");
    bar.hidden = model === null;
    bar.querySelector("b").textContent = model ?? "";
    for (const cell of document.querySelectorAll("td[data-model]")) cell.closest("tr").classList.toggle("only", cell.dataset.model === model);
    for (const follow of this.watchers) follow(model);
  },
};
document.getElementById("only-none").addEventListener("click", () => { only.set(null); document.querySelector(".plane:not([hidden])")?.focus(); });
// Names that open what they name: of a model the page for it alone, of a transcript its text or the command that shows it.
const named = (cell, title, press) => {
  const name = button("", press);
  name.className = "named";
  name.title = title;
  const text = cell.firstChild;
  cell.insertBefore(name, text);
  name.append(text);
};
const toBoard = () => (document.getElementById("plane") ?? document.getElementById("matrix") ?? document.getElementById("drill"))?.scrollIntoView({ block: "start" });
for (const cell of document.querySelectorAll("td[data-model]")) {
  named(cell, `the page for ${cell.dataset.model} alone`, () => { only.set(cell.dataset.model); toBoard(); });
}
for (const cell of document.querySelectorAll("td[data-transcript]")) named(cell, "open it", () => openTranscript(cell, cell.dataset.transcript));
