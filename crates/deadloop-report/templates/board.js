// The sliders: the operating point, the models and the flipped transcripts of the cell that they stand at.
const element = (name, attributes = {}, ...children) => {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) node.setAttribute(key, value);
  node.append(...children);
  return node;
};
const byId = (id) => document.getElementById(id);
const ROWS = 100;
// Measures that have a column in the table of models: those that the run was asked for come first.
const COLUMNS = 4;

class Board {
  async open(data) {
    Object.assign(this, { data, counts: [], at: [], flips: null, wanted: new Set(Object.keys(WORDS)), shown: ROWS, turn: 0 });
    this.plan = data.plan ? await columnOf(data.plan) : null;
    this.ids = data.ids ? new TextDecoder().decode(await unpacked(data.ids)) : null;
    this.counts = [await countsOf(data.models[0], data.counted, data.cells)];
    this.families = await Promise.all(data.families.map((family) => familyOf(family, data.params)));
    const { families } = this;
    byId("family").append(...families.map(({ name, cells }, n) => element("option", { value: n }, `${name} (${count(cells.length)} settings)`)));
    byId("family-label").hidden = families.length < 2;
    byId("base").append(...data.bases.map(({ name, cell }) => element("option", { value: cell }, name)));
    byId("base-label").hidden = data.bases.length < 2;
    byId("no-base").hidden = data.bases.length > 1;
    byId("starts").append(...this.starts());
    byId("family").addEventListener("change", (event) => this.enter(Number(event.target.value)));
    byId("base").addEventListener("change", (event) => { this.base = Number(event.target.value); this.show(); });
    addEventListener("resize", () => this.plot());
    // The sliders stand at the choice, and are compared with what it would replace.
    const start = data.bases[0]?.cell ?? families[0].cells[0];
    this.base = (data.bases.find(({ cell }) => cell !== start) ?? data.bases[0])?.cell ?? start;
    byId("base").value = this.base;
    byId("board").hidden = false;
    if (!this.fromLink() && !this.stand(start)) this.enter(0);
    performance.mark("deadloop-ready");
    document.documentElement.dataset.board = "ready";
    // What the first look does not need.
    for (let n = 1; n < data.models.length; n++) this.counts[n] = await countsOf(data.models[n], data.counted, data.cells);
    const transcripts = JSON.parse(new TextDecoder().decode(await unpacked(data.regions.transcripts)));
    this.flips = new Flips(data.regions, transcripts, this.plan);
    document.documentElement.dataset.board = "whole";
    this.show();
  }
  // Buttons for the settings with a name that stand in a grid.
  starts() {
    const inGrid = this.data.bases.filter(({ cell }) => this.placeOf(cell));
    const nodes = inGrid.slice(0, 6).map(({ name, cell }) => {
      const button = element("button", { type: "button" }, name);
      button.addEventListener("click", () => { this.touched = true; this.stand(cell); });
      return button;
    });
    return nodes.length ? ["start from ", ...nodes] : [];
  }
  placeOf(cell) {
    for (const [number, family] of this.families.entries()) {
      const n = family.cells.indexOf(cell);
      if (n >= 0) return { number, n };
    }
    return null;
  }
  // Puts the sliders at a cell; whether it is in a grid.
  stand(cell) {
    const place = this.placeOf(cell);
    if (place) this.enter(place.number, this.families[place.number].position(place.n));
    return Boolean(place);
  }
  fromLink() {
    const link = /^#s=(\d+):([\d,]*)$/.exec(location.hash);
    const family = link && this.families[Number(link[1])];
    if (!family) return false;
    const at = link[2] === "" ? [] : link[2].split(",").map(Number);
    if (family.find(at) === undefined) return false;
    this.enter(Number(link[1]), at);
    return true;
  }
  enter(number, at) {
    this.number = number;
    this.family = this.families[number];
    byId("family").value = number;
    this.at = at ?? this.family.position(0);
    this.sliders = this.family.axes.map((axis, n) => this.slider(axis, n));
    byId("sliders").replaceChildren(...this.sliders.map(({ node }) => node));
    this.specks = null;
    this.show();
  }
  slider({ name, values }, n) {
    const id = `slider-${n}`;
    const input = element("input", { type: "range", id, min: 0, max: values.length - 1, step: 1, "data-param": name });
    const output = element("output", { for: id });
    const [member, param] = [name.slice(0, name.lastIndexOf(".")), name.slice(name.lastIndexOf(".") + 1)];
    input.addEventListener("input", () => this.move(n, Number(input.value)));
    const label = element("label", { for: id }, param, element("small", {}, member));
    const node = element("div", { class: "slider" }, label, output, input);
    const put = (at) => {
      input.value = at;
      input.setAttribute("aria-valuetext", values[at]);
      output.textContent = values[at].length > 44 ? `${values[at].slice(0, 43)}…` : values[at];
      output.title = values[at];
    };
    return { node, put };
  }
  move(axis, value) {
    this.touched = true;
    const at = this.at.slice();
    at[axis] = value;
    byId("hole").textContent = "";
    if (this.family.find(at) === undefined) {
      const n = this.family.nearest(at, axis);
      const near = this.family.position(n);
      const moved = near.flatMap((place, other) => (place === at[other] ? [] : [`${this.family.axes[other].name} to ${this.family.axes[other].values[place]}`]));
      byId("hole").textContent = `That combination was not replayed; moved ${moved.join(", ")}.`;
      this.at = near;
    } else {
      this.at = at;
    }
    this.shown = ROWS;
    this.show();
  }
  get cell() { return this.family.cells[this.family.find(this.at)]; }
  get baseName() { return this.data.bases.find(({ cell }) => cell === this.base)?.name ?? "the first"; }
  scores(model, cell) { return scoresOf(this.counts[model], cell, this.data); }
  show() {
    this.sliders.forEach(({ put }, n) => put(this.at[n]));
    const now = this.scores(0, this.cell), base = this.scores(0, this.base);
    byId("board").dataset.cell = this.plan ? this.plan[this.cell] : this.cell;
    this.figures(now, base);
    this.plot();
    this.models();
    this.setting();
    byId("told").textContent = `recall ${percent(now.value("recall"))}, ${decimal(now.value("fa_per_mchar"))} false alarms per million clean chars`;
    this.flip();
  }
  // A figure for each measure of the table, with its interval, the difference, and of how much it is a ratio.
  figures(now, base) {
    const { limit, measures } = this.data;
    const figure = (measure) => {
      const { name, title } = measure, write = writerOf(measure), value = now.value(name), of = now.of(name);
      const change = difference(value, base.value(name), write);
      const over = name === "fa_per_mchar" && limit !== null && value > limit ? `above the limit of ${grouped(String(limit))}` : "";
      const notes = [of ? `${count(of[0])} of ${count(of[1])}` : "", over].filter(Boolean).join("; ");
      return element("section", {}, element("h3", {}, title),
        element("p", {}, element("b", { "data-measure": name, "data-v": value ?? "" }, write(value)), element("span", { class: "range" }, rangeOf(now.ends(name), write)),
          element("span", { class: "of" }, change && this.base !== this.cell ? `${change} against ${this.baseName}` : ""), element("span", { class: "of" }, notes)));
    };
    const loops = element("section", {}, element("h3", {}, "loops"), element("p", {}, element("b", {}, count(now.loops)),
      element("span", { class: "of" }, this.parts(now))));
    byId("figures").replaceChildren(...measures.map(figure), loops);
  }
  // What became of the loops: three parts.
  parts({ count: of, loops }) {
    const [found, earlier] = [of("hit"), of("earlier")];
    return `${count(found)} found, ${count(earlier)} stopped earlier, ${count(loops - found - earlier)} missed`;
  }
  // The setting of the sliders: its id, and as it stands in a settings file.
  setting() {
    const { family: { toml, axes }, at, data: { params } } = this;
    const written = (param) => {
      const axis = axes.findIndex(({ param: other }) => other === param), value = axes[axis].values[at[axis]];
      return params[param].text ? JSON.stringify(value) : value;
    };
    byId("setting").hidden = toml === null;
    byId("setting-id").textContent = this.ids ? this.ids.slice(12 * this.cell, 12 * this.cell + 12) : "as a settings file";
    byId("setting-toml").textContent = (toml ?? "").replace(/\u0001(\d+)\u0001/g, (_, param) => written(Number(param)));
  }
  plot() {
    const { family } = this;
    const placed = (cell) => { const scores = this.scores(0, cell); return [scores.value("fa_per_mchar"), scores.value("recall")]; };
    if (!this.specks) {
      const step = Math.ceil(family.cells.length / 20000);
      this.specks = family.cells.filter((_, n) => n % step === 0).map(placed).filter(([fa, recall]) => fa !== null && recall !== null);
    }
    const mark = (cell, name, role) => {
      const [fa, recall] = placed(cell);
      return fa === null || recall === null ? [] : [{ at: [fa, recall], name: `${name}: recall ${percent(recall)}, ${decimal(fa)} false alarms`, role }];
    };
    const marks = [...mark(this.base, "compared with", "base"), ...mark(this.cell, "the sliders", "now")];
    // Without loops there is no recall, and nothing to draw.
    byId("plot").toggleAttribute("hidden", !marks.length && !this.specks.length);
    byId("plot-keys").hidden = !marks.length && !this.specks.length;
    drawPlot(byId("plot"), this.specks, marks, this.data.limit);
  }
  models() {
    const measures = this.data.measures.slice(0, COLUMNS);
    const head = (text, kind = "n still") => element("th", { scope: "col", class: kind }, text);
    byId("by-model").tHead.rows[0].replaceChildren(head("model", "still"), head("loops"), ...measures.flatMap(({ title }) => [head(title), head("±")]));
    const cell = (text, small, value, kind = "") => element("td", { class: `n ${kind}`, ...value }, text, ...(small ? [element("small", {}, small)] : []));
    const row = ({ name: model }, n) => {
      if (!this.counts[n]) return [];
      const now = this.scores(n, this.cell), base = this.scores(n, this.base);
      const cells = measures.flatMap((measure) => {
        const { name } = measure, write = writerOf(measure), value = now.value(name);
        return [cell(write(value), rangeOf(now.ends(name), write), { "data-measure": name, "data-v": value ?? "" }), cell(difference(value, base.value(name), write), "", {}, "change")];
      });
      return [element("tr", { "data-model": model }, element("th", { scope: "row" }, model === "*" ? "all models" : visibleText(model)), cell(count(now.loops), this.parts(now), {}), ...cells)];
    };
    byId("by-model").tBodies[0].replaceChildren(...this.data.models.flatMap(row));
  }
  async flip() {
    const turn = ++this.turn, note = byId("flip-note");
    if (this.touched) history.replaceState(null, "", `#s=${this.number}:${this.at.join(",")}`);
    if (!this.flips) { note.textContent = "Reading where verdicts change…"; return; }
    const { base, cell } = this;
    if (![base, cell].every((one) => this.flips.knows(one))) {
      this.flipRows([], null);
      note.textContent = "Which transcripts flip is not in this page for these structural values: it was left out to bound the page's size. `deadloop replay` of both settings, then `deadloop compare`, lists them.";
      return;
    }
    const flips = await this.flips.between(base, cell);
    if (turn === this.turn) this.flipRows(flips, note);
  }
  flipRows(flips, note) {
    const tallies = new Map(Object.keys(WORDS).map((kind) => [kind, 0]));
    flips.forEach(({ kind }) => tallies.set(kind, tallies.get(kind) + 1));
    if (note) note.textContent = flips.length ? `${count(flips.length)} of ${count(this.flips.transcripts.length)} transcripts get another verdict.` : "No transcript gets another verdict.";
    const chip = ([kind, n]) => {
      const on = this.wanted.has(kind);
      const button = element("button", { type: "button", class: `chip ${kind}`, "aria-pressed": on, "data-kind": kind }, `${count(n)} ${WORDS[kind]}`);
      button.addEventListener("click", () => { this.wanted[on ? "delete" : "add"](kind); this.flipRows(flips, note); byId("flip-kinds").querySelector(`[data-kind=${kind}]`)?.focus(); });
      return button;
    };
    byId("flip-kinds").replaceChildren(...[...tallies].filter(([, n]) => n > 0).map(chip));
    const list = flips.filter(({ kind }) => this.wanted.has(kind));
    const outcome = ([verdict, alarm]) => `${verdict}${alarm ? ` at ${count(alarm - 1)}` : ""}`;
    const row = ({ id, model, onset, kind, before, after }) => element("tr", { class: kind },
      element("td", {}, transcriptLink(id)), element("td", {}, visibleText(model)),
      element("td", { class: "n" }, isUndefined(onset) ? "–" : count(onset)), element("td", {}, outcome(before)), element("td", {}, outcome(after)));
    byId("flips").hidden = flips.length === 0;
    byId("flip-rows").replaceChildren(...list.slice(0, this.shown).map(row));
    const more = byId("flip-more");
    more.hidden = list.length <= this.shown;
    more.textContent = `${count(list.length - this.shown)} more`;
    more.onclick = () => { this.shown += 10 * ROWS; this.flipRows(flips, note); };
  }
}

const boardData = byId("board-data");
if (boardData) {
  if (typeof DecompressionStream === "undefined") {
    byId("no-board").hidden = false;
  } else {
    new Board().open(JSON.parse(boardData.textContent));
  }
}
