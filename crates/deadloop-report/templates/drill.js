// The opened transcripts: filter, sort, keys, links. All of it is in the page; this only hides and moves.
function visibleText(text) {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
}
function caseLink(id) {
  return `t=${[...new TextEncoder().encode(id)].map((byte) => (/[\w.~-]/.test(String.fromCharCode(byte)) && byte < 128 ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)).join("")}`;
}
// A transcript's name; a link where it can be opened.
function transcriptLink(id) {
  const link = caseLink(id);
  if (!document.getElementById(link)) return document.createTextNode(visibleText(id));
  const node = document.createElement("a");
  node.href = `#${link}`;
  node.textContent = visibleText(id);
  return node;
}
const drill = document.getElementById("drill");
if (drill) {
  const cases = [...drill.querySelectorAll("details.case")];
  const controls = document.getElementById("drill-controls");
  const [text, model, sort] = ["drill-text", "drill-model", "drill-sort"].map((id) => document.getElementById(id));
  const told = document.getElementById("drill-told");
  controls.hidden = false;
  for (const name of [...new Set(cases.map((one) => one.dataset.model))].sort()) model.append(new Option(name, name));
  const isShown = (one) => !one.hidden;
  const apply = () => {
    const wanted = text.value.trim().toLowerCase();
    for (const one of cases) {
      const fits = (model.value === "" || one.dataset.model === model.value) && (wanted === "" || one.textContent.toLowerCase().includes(wanted));
      one.hidden = !fits;
    }
    told.textContent = `${cases.filter(isShown).length} of ${cases.length} shown`;
  };
  const orders = {
    worst: (a, b) => b.dataset.worst - a.dataset.worst,
    id: (a, b) => a.dataset.id.localeCompare(b.dataset.id),
    model: (a, b) => a.dataset.model.localeCompare(b.dataset.model),
    early: (a, b) => a.dataset.at - b.dataset.at,
  };
  text.addEventListener("input", apply);
  model.addEventListener("change", apply);
  sort.addEventListener("change", () => {
    for (const list of drill.querySelectorAll(".cases")) list.append(...[...list.children].sort(orders[sort.value]));
  });
  // Each box of text stands where something happens.
  const toPins = (one) => {
    for (const box of one.querySelectorAll(".text")) {
      const pin = box.querySelector(".pin");
      if (pin) box.scrollTop = pin.getBoundingClientRect().top - box.getBoundingClientRect().top + box.scrollTop - box.clientHeight / 3;
    }
  };
  const open = (one) => {
    one.hidden = false;
    one.open = true;
    one.querySelector("summary").focus();
    one.scrollIntoView({ block: "start" });
  };
  const follow = () => {
    const one = location.hash.startsWith("#t=") && document.getElementById(location.hash.slice(1));
    if (one) open(one);
  };
  addEventListener("hashchange", follow);
  // Where the reader is stands in the address, so that it can be sent on.
  drill.addEventListener("toggle", ({ target }) => {
    if (!target.open || !target.id) return;
    history.replaceState(null, "", `#${target.id}`);
    toPins(target);
  }, true);
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    if (event.key === "/") { event.preventDefault(); text.focus(); return; }
    if (event.key !== "j" && event.key !== "k") return;
    const shown = [...drill.querySelectorAll("details.case")].filter(isShown);
    const here = shown.findIndex((one) => one.contains(document.activeElement));
    const next = shown[event.key === "j" ? here + 1 : Math.max(here - 1, 0)];
    if (next) next.querySelector("summary").focus();
  });
  apply();
  follow();
}
