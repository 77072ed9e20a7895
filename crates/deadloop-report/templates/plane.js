// The planes, one a model: a dot that is clicked, or reached by the arrow keys, shows its figures and its settings file.
const planeData = byId("plane-data");
class Planes {
  constructor({ planes, files }) {
    Object.assign(this, { planes, files, boxes: [...document.querySelectorAll(".plane")], at: 0, dot: -1 });
    const names = this.boxes.map((box) => box.dataset.model);
    byId("plane-models").hidden = names.length < 2;
    byId("plane-model").append(...names.map((name) => new Option(name || "all models", name)));
    byId("plane-model").addEventListener("change", ({ target }) => only.set(target.value || null));
    byId("dot-take").append(copyButton(byId("dot-toml"), "copy as settings.toml"), " ", downloadButton(byId("dot-toml"), "settings.toml"));
    this.boxes.forEach((box, n) => {
      box.tabIndex = 0;
      box.addEventListener("click", ({ target }) => { if (target.closest("[data-dot]")) this.pick(Number(target.closest("[data-dot]").dataset.dot)); });
      box.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (!step) return;
        event.preventDefault();
        const many = this.planes[n].length;
        this.pick((this.dot + step + many) % many);
      });
    });
    byId("dot").hidden = false;
    only.watch((model) => this.show(model ?? ""));
    this.show("");
  }
  show(model) {
    const known = this.boxes.findIndex((box) => box.dataset.model === model);
    byId("no-plane").hidden = known >= 0;
    this.at = Math.max(known, 0);
    this.boxes.forEach((box, n) => { box.hidden = n !== this.at; });
    byId("plane-model").value = this.boxes[this.at].dataset.model;
    // The last of the marks is what decides: it is drawn on top.
    this.pick(this.planes[this.at].length - 1);
  }
  pick(dot) {
    this.dot = dot;
    const { name, figures, file } = this.planes[this.at][dot], box = this.boxes[this.at];
    for (const node of box.querySelectorAll("[data-dot]")) node.classList.toggle("picked", Number(node.dataset.dot) === dot);
    byId("dot-name").textContent = name;
    byId("dot-figures").replaceChildren(...figures.flatMap(([what, text]) => [element("dt", {}, what), element("dd", {}, text)]));
    byId("dot-file").hidden = file === null;
    const { toml, differs } = this.files[file] ?? { toml: "", differs: null };
    byId("dot-toml").textContent = toml;
    byId("dot-from").textContent = differs?.list.length ? `differs from ${differs.from}:` : "";
    byId("dot-differs").replaceChildren(...(differs?.list ?? []).map(({ of, what, param, from, to }) => element("li", {}, `${of}: ${what} `,
      ...(param === "detector" ? [] : [element("code", {}, param), ` ${from} → ${to}`]))));
    byId("no-file").hidden = file !== null;
  }
}
if (planeData && typeof DecompressionStream !== "undefined") unpacked(planeData.textContent).then((data) => new Planes(data));
