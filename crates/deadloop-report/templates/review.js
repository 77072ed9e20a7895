// A review in the browser: sends keys, and shows what comes back. What a key does is decided by the program alone.
let turn = -1, asking = false, ended = false;
const waiting = [];
const tell = (text) => { byId("said").textContent = text; };
const keyButton = (name, what) => {
  const node = element("button", { type: "button" }, element("kbd", {}, name === " " ? "space" : name), element("span", {}, what));
  // A button that kept the focus would take Enter and space for itself.
  node.addEventListener("click", () => { node.blur(); press(name); });
  return node;
};
const drawKeys = (keys) => {
  if (byId("keys").childElementCount) return;
  byId("keys").append(...keys.flatMap(([names, what]) => names.split(" ").map((name, n, all) => keyButton(name === "space" ? " " : name, all.length === 1 ? what : n ? "" : what))));
  for (const node of document.querySelectorAll("#keys button")) if (!node.lastChild.textContent) { node.lastChild.remove(); node.setAttribute("aria-label", `${node.textContent}: ${node.previousSibling.textContent}`); }
};
const passage = ([place, pieces]) => {
  const nodes = pieces.flatMap(({ text, tint, marks }) => {
    const pin = marks ? [element("span", { class: "pin" }, marks)] : [];
    return [...pin, tint === null ? text : element("mark", { class: tint ? "b" : "" }, text)];
  });
  return [element("p", { class: "place" }, place), element("p", { class: "passage" }, ...nodes)];
};
const show = (state) => {
  const same = state.turn !== 0 && byId("which").textContent === state.head[0] && state.moved !== 0;
  turn = state.turn;
  ended = state.ended;
  drawKeys(state.keys);
  byId("which").textContent = ended ? "The review has ended" : state.head[0] ?? "All were looked at";
  byId("rows").replaceChildren(...(ended ? [] : state.head.slice(1)).map((row) => element("li", {}, row.trim())));
  byId("count").textContent = `${state.answered} answered, ${state.left} left${state.whole ? "; the whole text" : ""}`;
  const text = byId("text");
  if (same) {
    text.scrollBy({ top: state.moved * Math.max(text.clientHeight - 40, 40) });
  } else if (state.help) {
    text.replaceChildren(element("p", { id: "help" }, state.help));
  } else if (ended || !state.head.length) {
    text.replaceChildren(element("p", {}, ended ? "Every answer is saved. This page can be closed." : "Every answer is saved. z takes the last one back, q ends the review."));
  } else {
    text.replaceChildren(...state.excerpts.flatMap(passage));
    text.scrollTop = 0;
    // The first mark is what is asked about.
    const pin = text.querySelector(".pin");
    if (pin) text.scrollTop = Math.max(0, pin.offsetTop - text.offsetTop - text.clientHeight / 3);
  }
  tell(state.said);
  for (const node of document.querySelectorAll("#keys button")) node.disabled = ended;
};
const ask = async (path, body) => {
  const answer = await fetch(path, body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
  show(await answer.json());
};
// One key after the other: each is about what was shown when the one before it had been answered.
const press = async (key) => {
  if (ended) return;
  waiting.push(key);
  if (asking) return;
  asking = true;
  try {
    while (waiting.length && !ended) await ask("press", { key: waiting.shift(), turn });
  } catch (error) {
    waiting.length = 0;
    tell(`No answer from the program: it has ended, or this machine slept. ${error.message}`);
  }
  asking = false;
};
const KEYS = new Set(["Enter", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "PageDown", "PageUp"]);
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat && event.key === "Enter") return;
  const onButton = event.target.closest("button") && (event.key === "Enter" || event.key === " ");
  if (onButton || !(event.key.length === 1 || KEYS.has(event.key))) return;
  event.preventDefault();
  press(event.key);
});
ask("state").catch((error) => tell(error.message));
