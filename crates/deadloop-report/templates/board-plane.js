// The plane, the line under it and what a limit costs beside it, for the model that the page is about.
const alarms = (n) => `${count(n)} wrong alarm${n === 1 ? "" : "s"}`;
class PlaneView {
  constructor(board) {
    this.board = board;
    const { data } = board;
    this.limit = data.limit;
    this.plane = new Plane(byId("plane"), byId("tip"), {
      onPick: (cells) => board.pick(this.sorted(cells)),
      onLimit: (limit) => this.setLimit(limit),
    });
    // What may be the height: first what decides, where that is a share.
    const names = [...(this.objective.unit === "share" ? [this.objective.name] : []), "saved", "ended", "recall"];
    this.ups = [...new Set(names)].map((name) => data.named.get(name)).filter(Boolean);
    byId("plane-up-label").hidden = this.ups.length < 2;
    byId("plane-up").append(...this.ups.map((up) => element("option", { value: up.name }, `${up.title}: ${up.about}`)));
    byId("plane-up").addEventListener("change", () => this.draw());
    byId("under-take").addEventListener("click", () => { if (this.best >= 0) board.pick([this.best]); });
    byId("under-reset").addEventListener("click", () => this.setLimit(data.limit));
    byId("plane-hint").hidden = false;
  }
  get objective() { const { named, measures, objective } = this.board.data; return named.get(objective) ?? measures[0]; }
  // The columns of the model shown, worked out once a model.
  columns() {
    const { board, board: { data, counts, whose } } = this;
    board.every ??= new Map();
    if (!board.every.has(whose)) {
      const of = (measure) => everyValue(measure, counts[whose], data.cells, data.worth);
      const rate = data.named.get(data.rate[0]), objective = of(this.objective);
      const merits = this.objective.more_is_better ? objective : objective.map((value) => -value);
      const ups = new Map(this.ups.map((up) => [up.name, of(up)]));
      board.every.set(whose, { rates: of(rate), recalls: of(data.named.get("recall")), ups, wrong: everyCount(rate, counts[whose], data.cells), objective, merits });
    }
    return board.every.get(whose);
  }
  // The best cell of a grid under the limit; -1: none.
  bestInGrid() {
    const { rates, merits } = this.columns(), { number } = this.board.place;
    return under(rates, merits.map((merit, n) => (number[n] < 0 ? NaN : merit)), this.limit ?? Infinity).best;
  }
  // Cells at one dot: the best first.
  sorted(cells) {
    const { merits, rates } = this.columns();
    return cells.sort((a, b) => (merits[b] || 0) - (merits[a] || 0) || rates[a] - rates[b] || a - b);
  }
  draw() {
    const { board, board: { data, cell, base } } = this;
    const { rates, ups } = this.columns();
    const up = this.ups.find(({ name }) => name === byId("plane-up").value) ?? this.ups[0], recalls = ups.get(up.name);
    const empty = !rates.some((rate, n) => !Number.isNaN(rate + recalls[n]));
    // Without loops no share of them is known, and there is nothing to draw.
    byId("plane-box").toggleAttribute("hidden", empty);
    if (!empty) {
      this.plane.draw({
        rates, recalls, marks: data.bases, now: { cell, base }, limit: this.limit, middle: data.limit || 1,
        axis: data.rate[1], up: up.title, describe: (cells) => this.describe(this.sorted(cells), up, recalls),
      });
      this.setLimit(this.limit);
    }
    byId("stairs-box").hidden = empty;
    if (!empty) this.stairs();
    this.drawn = empty ? null : board.whose;
  }
  // After another setting was taken: all of it only where the model is another one.
  follow() {
    const { board, board: { cell, base } } = this;
    if (this.drawn === board.whose) this.plane.moveTo({ cell, base }); else this.draw();
  }
  // What a dot says: first what its height is.
  describe(cells, up, heights) {
    const { board, board: { data } } = this, { rates, wrong, objective } = this.columns(), cell = cells[0];
    const name = data.bases.filter((one) => cells.includes(one.cell)).map((one) => one.name).join(", ");
    const write = writerOf(this.objective);
    return [
      name, `${up.title} ${percent(heights[cell])}, ${decimal(rates[cell])} ${data.rate[1]} (${alarms(wrong[cell])})`,
      this.objective.name === up.name ? "" : `${this.objective.title} ${write(objective[cell])}`, board.differs(cell),
      cells.length > 1 ? `${count(cells.length)} settings here; a click takes the best` : "a click takes it",
    ].filter(Boolean);
  }
  setLimit(limit) {
    const { board, board: { data } } = this, { rates, recalls, objective, merits } = this.columns();
    this.limit = limit;
    const { count: many, best } = under(rates, merits, limit ?? Infinity);
    this.best = best;
    this.plane.setLimit(limit, best);
    const write = writerOf(this.objective), within = limit === null ? "Without a limit" : `At most ${decimal(limit)} ${data.rate[1]}`;
    byId("under").textContent = best < 0 ? `${within}: no setting.`
      : `${within}: ${count(many)} of ${count(data.cells)} settings; the best ${this.objective.title} is ${write(objective[best])}, with recall ${percent(recalls[best])} at ${decimal(rates[best])}.`;
    byId("under").dataset.count = many;
    byId("under").dataset.limit = limit ?? "";
    byId("under").dataset.best = best < 0 ? "" : board.number(best);
    byId("under-take").hidden = best < 0;
    byId("under-reset").hidden = limit === data.limit;
    for (const row of document.querySelectorAll("#stairs button")) row.classList.toggle("beyond", limit !== null && rates[Number(row.dataset.cell)] > limit + 1e-12);
  }
  // The rows: held out where tune chose them and the page is about all models, else in-sample.
  rows() {
    const { board: { data, whose } } = this, { wrong, objective, recalls, merits, rates } = this.columns();
    if (whose === 0 && data.limits.length) return { held: true, rows: data.limits.map(({ cell, at_most, held_out, in_sample }) => ({ cell, at_most, ...held_out, inside: [in_sample.objective, in_sample.recall] })) };
    const exposure = Math.max(...data.bases.slice(0, 1).map(({ cell }) => (rates[cell] > 0 ? wrong[cell] / rates[cell] : 0)), 0);
    const top = data.limit !== null && exposure ? Math.max(3, 3 * data.limit * exposure) : Math.max(5, wrong[data.bases[0]?.cell ?? 0] + 3);
    return { held: false, rows: stairs(wrong, merits, top).map((row) => ({ ...row, objective: objective[row.cell], recall: recalls[row.cell] })) };
  }
  stairs() {
    const { held, rows } = this.rows(), measure = this.objective, sign = measure.more_is_better ? 1 : -1;
    const write = writerOf(measure), size = (gain) => (write === percent ? points(gain) : write(gain));
    const nodes = rows.flatMap((row, n) => {
      const said = (value, recall) => `${measure.title} ${write(value)}${measure.name === "recall" ? "" : `, recall ${percent(recall)}`}`;
      const rate = held ? `, ${decimal(row.rate)} ${this.board.data.named.get(this.board.data.rate[0]).title}: ${alarms(row.wrong)}, ${count(row.transient)} repetitions that would have ended by themselves` : "";
      const take = button("", () => { this.board.pick([row.cell]); this.setLimit(Math.max(this.columns().rates[row.cell], this.limit ?? 0)); });
      take.append(element("b", {}, held ? `at most ${decimal(row.at_most)}` : `at most ${alarms(row.at_most)}`), element("span", {}, said(row.objective, row.recall) + rate));
      if (held) take.append(element("small", {}, `in-sample ${said(...row.inside)}`));
      take.dataset.cell = row.cell;
      const before = rows[n - 1];
      const step = before && !held ? [element("li", { class: "step" }, bought(before.at_most, row.at_most, sign * (row.objective - before.objective), size))] : [];
      return [...step, element("li", {}, take)];
    });
    byId("stairs").replaceChildren(...nodes);
    byId("stairs-title").textContent = held ? "What a limit costs" : "What one more wrong alarm buys";
    byId("stairs-note").textContent = held ? "Held out: each fold was judged by what the others had chosen. A dot of the plane is in-sample. A click puts the sliders there."
      : `In-sample, ${only.model ?? "all models"}: the best ${measure.title} for each number of wrong alarms. A click puts the sliders there.`;
  }
}
