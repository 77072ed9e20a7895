// The sliders: the operating point, the models and the flipped transcripts of the cell that they stand at.
// Measures that have a column in the table of models: those that the run was asked for come first.
const COLUMNS = 4;
// The models that stand above the fold: those with the most loops, and none with fewer than so many.
const MODELS = 5, USABLE = 10;

class Board {
  async open(data) {
    Object.assign(this, { data, counts: [], at: [], flips: null, turn: 0, whose: 0, lone: null, exact: null, siblings: [] });
    data.named = new Map(data.measures.map((measure) => [measure.name, measure]));
    this.numbers = data.plan ? await columnOf(data.plan) : null;
    this.ids = data.ids ? new TextDecoder().decode(await unpacked(data.ids)) : null;
    this.counts = [await countsOf(data.models[0], data.counted, data.cells)];
    this.families = await Promise.all(data.families.map((family) => familyOf(family, data.params)));
    const { families } = this;
    this.place = this.places();
    byId("family").append(...families.map(({ name, cells }, n) => element("option", { value: n }, `${name} (${count(cells.length)} setting${cells.length === 1 ? "" : "s"})`)));
    byId("family-label").hidden = families.length < 2;
    byId("base").append(...data.bases.map(({ name, cell }) => element("option", { value: cell }, name)));
    byId("base-label").hidden = data.bases.length < 2;
    byId("no-base").hidden = data.bases.length > 1;
    byId("starts").append(...this.starts());
    byId("family").addEventListener("change", (event) => this.enter(Number(event.target.value)));
    byId("base").addEventListener("change", (event) => { this.base = Number(event.target.value); this.show(); });
    byId("use").addEventListener("click", () => this.use());
    byId("few-models").addEventListener("click", () => { this.few = !this.few; this.models(); });
    byId("here-before").addEventListener("click", () => this.step(-1));
    byId("here-after").addEventListener("click", () => this.step(1));
    byId("plane-model").append(...data.models.map(({ name }, n) => element("option", { value: n }, n ? visibleText(name) : "all models")));
    byId("plane-model").addEventListener("change", ({ target: { value } }) => only.set(value === "0" ? null : visibleText(data.models[value].name)));
    only.watch((model) => this.about(model));
    addEventListener("resize", () => this.plane.draw());
    this.collection = new Collection(document.title.replace(/^deadloop \w+: /, ""));
    this.list = new FlipList();
    // The sliders stand at the choice, and are compared with what it would replace.
    this.plane = new PlaneView(this);
    const inGrid = data.bases.find(({ cell }) => this.placeOf(cell))?.cell, best = this.plane.bestInGrid();
    const start = inGrid ?? (best < 0 ? families[0].cells[0] : best);
    this.base = (data.bases.find(({ cell }) => cell !== start) ?? data.bases[0])?.cell ?? start;
    byId("base").value = this.base;
    byId("board").hidden = false;
    if (!this.fromLink()) this.stand(start);
    performance.mark("deadloop-ready");
    document.documentElement.dataset.board = "ready";
    // What the first look does not need.
    for (let n = 1; n < data.models.length; n++) this.counts[n] = await countsOf(data.models[n], data.counted, data.cells);
    if (only.model !== null) this.about(only.model);
    const transcripts = JSON.parse(new TextDecoder().decode(await unpacked(data.regions.transcripts)));
    this.flips = new Flips(data.regions, transcripts, this.numbers);
    document.documentElement.dataset.board = "whole";
    this.show();
  }
  // Buttons for the settings with a name.
  starts() {
    const nodes = this.data.bases.slice(0, 8).map(({ name, cell }) => button(name, () => this.pick([cell])));
    return nodes.length ? ["start from ", ...nodes] : [];
  }
  // The number of a cell in the plan, which is the order of scores.parquet.
  number(cell) { return this.numbers ? this.numbers[cell] : cell; }
  // The family of each cell and its place there.
  places() {
    const { families, data: { cells } } = this, number = new Int32Array(cells).fill(-1), n = new Int32Array(cells);
    families.forEach((family, at) => family.cells.forEach((cell, nth) => { number[cell] = at; n[cell] = nth; }));
    return { number, n };
  }
  placeOf(cell) {
    const number = this.place.number[cell];
    return number < 0 ? null : { number, n: this.place.n[cell] };
  }
  // Puts the sliders at a cell; whether it is in a grid.
  stand(cell) {
    const place = this.placeOf(cell);
    if (place) this.enter(place.number, this.families[place.number].position(place.n), cell);
    return Boolean(place);
  }
  // Shows the first of some cells that are one dot: the sliders go there, where it is a cell of a grid.
  pick(cells) {
    this.touched = true;
    this.siblings = cells;
    byId("hole").textContent = "";
    if (this.stand(cells[0])) return;
    this.lone = cells[0];
    this.show();
  }
  step(way) {
    const { siblings, siblings: { length } } = this;
    this.pick(way > 0 ? [...siblings.slice(1), siblings[0]] : [siblings[length - 1], ...siblings.slice(0, length - 1)]);
  }
  // Shows the page for a model alone, by its visible name; null: all of them.
  about(model) {
    const at = model === null ? 0 : this.data.models.findIndex(({ name }, n) => n > 0 && visibleText(name) === model);
    byId("plane-model").value = Math.max(at, 0);
    byId("no-model").hidden = at >= 0;
    byId("no-model").textContent = at < 0 ? `The counts of ${model} are not in this page, which shows all models: it has fewer loops than others, and the page is bounded.` : "";
    // Counts of single models come after the first look.
    this.whose = at > 0 && this.counts[at] ? at : 0;
    this.show();
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
  // `exact`: of two cells with the same values (they may watch other channels) the one that is meant.
  enter(number, at, exact = null) {
    this.chosen = number;
    this.family = this.families[number];
    Object.assign(this, { lone: null, exact });
    byId("family").value = number;
    this.at = at ?? this.family.position(0);
    this.sliders = this.family.axes.map((axis, n) => this.slider(axis, n));
    byId("sliders").replaceChildren(...this.sliders.map(({ node }) => node));
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
    Object.assign(this, { lone: null, exact: null, siblings: [] });
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
    this.show();
  }
  get cell() { return this.lone ?? this.exact ?? this.family.cells[this.family.find(this.at)]; }
  get baseName() { return this.data.bases.find(({ cell }) => cell === this.base)?.name ?? "the first"; }
  scores(model, cell) { return scoresOf(this.counts[model], cell, this.data); }
  show() {
    this.sliders.forEach(({ put }, n) => put(this.at[n]));
    const { data, whose } = this, now = this.scores(whose, this.cell), base = this.scores(whose, this.base);
    byId("board").dataset.cell = this.number(this.cell);
    byId("board").dataset.whose = data.models[whose].name;
    this.figures(now, base);
    this.plane.follow();
    this.models();
    this.setting();
    byId("told").textContent = `${only.model ?? "all models"}: ended ${percent(now.value("ended"))}, ${decimal(now.value(data.rate[0]))} ${data.rate[1]}`;
    this.flip();
  }
  // A figure for each measure of the table, with its interval, the difference, and of how much it is a ratio.
  figures(now, base) {
    const { limit, measures } = this.data;
    const figure = (measure) => {
      const { name, title } = measure, write = writerOf(measure), value = now.value(name), of = now.of(name);
      const change = difference(value, base.value(name), write);
      const over = name === this.data.rate[0] && limit !== null && value > limit ? `above the limit of ${grouped(String(limit))}` : "";
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
  // A cell as a settings file; none where the columns do not say all of it.
  toml(cell) {
    const place = this.placeOf(cell);
    if (!place) return this.data.bases.find((one) => one.cell === cell)?.toml ?? null;
    const { toml, axes } = this.families[place.number], { params } = this.data;
    const written = (param) => {
      const axis = axes.find(({ param: other }) => other === param), value = axis.values[axis.at[place.n]];
      return params[param].text ? JSON.stringify(value) : value;
    };
    return toml?.replace(/\u0001(\d+)\u0001/g, (_, param) => written(Number(param))) ?? null;
  }
  // In what a cell differs from another, in a few words.
  differs(cell, from = this.cell) {
    const place = this.placeOf(cell), other = this.placeOf(from);
    if (!place || cell === from) return "";
    const { axes, name } = this.families[place.number];
    if (place.number !== other?.number) return name;
    const changed = axes.filter(({ at }) => at[place.n] !== at[other.n]).map((axis) => `${axis.name} ${axis.values[axis.at[place.n]].slice(0, 24)}`);
    return changed.slice(0, 3).join(", ") + (changed.length > 3 ? ` and ${changed.length - 3} more` : "");
  }
  // What a cell is called: its names, or the named one that it is nearest to and what differs.
  called(cell) {
    const { data: { bases } } = this, place = this.placeOf(cell);
    const names = bases.filter((one) => one.cell === cell).map(({ name }) => name);
    if (names.length || !place) return names.join(", ");
    const like = bases.find((one) => this.placeOf(one.cell)?.number === place.number);
    return like ? `${like.name}, but ${this.differs(cell, like.cell)}` : this.families[place.number].name;
  }
  // The setting shown: its id, as it stands in a settings file, and for whom it can be used.
  setting() {
    const { cell, siblings } = this, toml = this.toml(cell), lone = this.lone !== null;
    byId("setting").hidden = toml === null;
    byId("setting-id").textContent = this.ids ? this.ids.slice(12 * cell, 12 * cell + 12) : "as a settings file";
    byId("setting-toml").textContent = toml ?? "";
    byId("setting-name").textContent = this.called(cell);
    byId("sliders").hidden = lone;
    byId("family-label").hidden = this.families.length < 2;
    byId("no-sliders").hidden = !lone && this.sliders.length > 0;
    byId("no-sliders").textContent = lone ? "This setting is no cell of a grid, so that it has no sliders." : "This guard was replayed with one setting: another guard, above, has sliders.";
    byId("here").hidden = siblings.length < 2 || siblings[0] !== cell;
    byId("here-told").textContent = `one of ${count(siblings.length)} settings at this dot`;
    byId("use").hidden = toml === null;
    byId("use").textContent = `use for ${only.model ?? "all models"}`;
    byId("no-use").hidden = toml !== null;
  }
  use() {
    const { cell, whose, data } = this, now = this.scores(whose, cell);
    // A model without counts here has a name all the same: it is said under which figures it was picked.
    const model = only.model === null ? "*" : whose ? data.models[whose].name : only.model;
    this.collection.use(model, this.toml(cell), `ended ${percent(now.value("ended"))}, ${decimal(now.value(data.rate[0]))} ${data.rate[1]}${model !== "*" && !whose ? " over all models" : ""}`);
  }
  models() {
    const measures = this.data.measures.slice(0, COLUMNS);
    const head = (text, kind = "n still") => element("th", { scope: "col", class: kind }, text);
    byId("by-model").tHead.rows[0].replaceChildren(head("model", "still"), head("loops"), ...measures.flatMap(({ title }) => [head(title), head("±")]));
    const cell = (text, small, value, kind = "") => element("td", { class: `n ${kind}`, ...value }, text, ...(small ? [element("small", {}, small)] : []));
    const row = ({ name: model }, n) => {
      const now = this.scores(n, this.cell), base = this.scores(n, this.base), visible = visibleText(model);
      const cells = measures.flatMap((measure) => {
        const { name } = measure, write = writerOf(measure), value = now.value(name);
        return [cell(write(value), rangeOf(now.ends(name), write), { "data-measure": name, "data-v": value ?? "" }), cell(difference(value, base.value(name), write), "", {}, "change")];
      });
      const name = element("th", { scope: "row" }, model === "*" ? "all models" : visible);
      if (model !== "*") named(name, `the page for ${visible} alone`, () => only.set(only.model === visible ? null : visible));
      return element("tr", { "data-model": model, class: only.model === visible ? "only" : "" }, name, cell(count(now.loops), this.parts(now), {}), ...cells);
    };
    const [head0, ...rest] = this.data.models.map((_, n) => n).filter((n) => this.counts[n]);
    const loops = new Map(rest.map((n) => [n, this.scores(n, this.base).loops]));
    rest.sort((a, b) => loops.get(b) - loops.get(a) || a - b);
    const many = rest.filter((n) => loops.get(n) >= USABLE).slice(0, MODELS), few = rest.filter((n) => !many.includes(n));
    const shown = [head0, ...many, ...(this.few || !many.length ? few : [])];
    byId("by-model").tBodies[0].replaceChildren(...shown.map((n) => row(this.data.models[n], n)));
    byId("few-models").hidden = !many.length || !few.length;
    byId("few-models").textContent = `${this.few ? "hide" : "show"} ${count(few.length)} model${few.length === 1 ? "" : "s"} with fewer loops`;
  }
  async flip() {
    const turn = ++this.turn, { base, cell, list } = this;
    if (this.touched) history.replaceState(null, "", this.lone === null ? `#s=${this.chosen}:${this.at.join(",")}` : "#board");
    if (!this.flips) { list.say("Reading where verdicts change…"); return; }
    if (![base, cell].every((one) => this.flips.knows(one))) {
      list.say("Which transcripts flip is not in this page for these structural values: it was left out to bound the page's size. `deadloop replay` of both settings, then `deadloop compare`, lists them.");
      return;
    }
    const flips = await this.flips.between(base, cell), { transcripts } = this.flips;
    if (turn !== this.turn) return;
    const is = (model) => only.model === null || visibleText(model) === only.model;
    list.show(flips.filter(({ model }) => is(model)), only.model === null ? transcripts.length : transcripts.filter(([, model]) => is(model)).length);
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
