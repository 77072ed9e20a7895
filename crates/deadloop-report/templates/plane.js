// The plane of what a setting ends or saves and its wrong alarms: a dot for each setting, that can be pointed at and clicked, and the limit, a line that can be dragged.
const REACH = 14;
// A scale that shows 0 and spreads what is around `middle`.
const bent = (middle) => (rate) => Math.log10(1 + rate / (middle * 0.3));

class Plane {
  constructor(svg, tip, { onPick, onLimit }) {
    Object.assign(this, { svg, tip, onPick, onLimit, cells: 0 });
    svg.addEventListener("pointermove", (event) => this.point(event));
    for (const name of ["pointerleave", "pointercancel", "focusout"]) svg.addEventListener(name, () => { tip.hidden = true; });
    addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
    svg.addEventListener("pointerdown", (event) => { if (event.target.closest("#plane-limit")) this.drag(event); });
    svg.addEventListener("click", (event) => {
      const dot = this.dragged || event.target.closest("#plane-limit") ? null : this.near(...this.place(event));
      if (dot) this.onPick(this.at(dot), dot);
    });
    svg.addEventListener("keydown", (event) => this.key(event));
  }
  // Every cell's rate and, as `recalls`, the share that `up` names; `marks` are cells with their names; `limit` may be null.
  draw({ rates, recalls, marks, now, limit, middle, axis, up, describe }) {
    Object.assign(this, { rates, recalls, limit, describe, now });
    const { svg } = this;
    // What it says is of the plane as it was.
    this.tip.hidden = true;
    const width = Math.max(Math.round(svg.clientWidth), 240), height = width < 480 ? 300 : 400;
    const [left, right, top, bottom] = [46, width - 16, 26, height - 42];
    let most = limit ?? 0, least = 1;
    for (let n = 0; n < rates.length; n++) {
      if (Number.isNaN(rates[n] + recalls[n])) continue;
      if (rates[n] > most) most = rates[n];
      if (recalls[n] < least) least = recalls[n];
    }
    most = (most || middle) * 1.25;
    least = Math.min(0.9, Math.floor(least * 10 - 1e-9) / 10);
    if (least < 0) least = 0;
    const bend = bent(middle), unbend = (value) => (10 ** value - 1) * middle * 0.3;
    this.x = (rate) => left + ((right - left) * bend(rate)) / bend(most);
    this.y = (recall) => bottom - ((bottom - top) * (recall - least)) / (1 - least);
    this.rateAt = (x) => unbend((Math.min(Math.max(x - left, 0), right - left) / (right - left)) * bend(most));
    Object.assign(this, { width, height, left, right, top, bottom, most });
    this.layOut();
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("height", height);
    this.axes(least, middle, axis, up);
    svg.append(svgNode("path", { d: this.dots.map(([x, y]) => `M${x} ${y}h0`).join(""), class: "specks" }));
    this.shade = svgNode("rect", { class: "shade", y: top, height: bottom - top });
    svg.append(this.shade);
    for (const { cell } of marks) this.mark(cell, 4.5, "named-dot");
    this.names(marks);
    this.best = svgNode("circle", { r: 9, class: "ring" });
    svg.append(this.best);
    this.marked = [svgNode("circle", { r: 5.5, class: "mark base" }), svgNode("circle", { r: 7, class: "mark now" })];
    svg.append(...this.marked);
    this.moveTo(now);
    svg.append(this.handle(axis));
    this.setLimit(limit);
  }
  // Which cells stand at which pixel: heads of lists.
  layOut() {
    const { rates, recalls, width, height } = this;
    this.heads = new Int32Array(width * height).fill(-1);
    this.nexts = new Int32Array(rates.length);
    this.dots = [];
    for (let n = rates.length - 1; n >= 0; n--) {
      if (Number.isNaN(rates[n] + recalls[n])) continue;
      const x = Math.round(this.x(rates[n])), y = Math.round(this.y(recalls[n])), at = y * width + x;
      if (this.heads[at] < 0) this.dots.push([x, y]);
      this.nexts[n] = this.heads[at];
      this.heads[at] = n;
    }
  }
  // The cells at a dot.
  at([x, y]) {
    const cells = [];
    for (let n = this.heads[y * this.width + x]; n >= 0; n = this.nexts[n]) cells.push(n);
    return cells;
  }
  axes(least, middle, axis, up) {
    const { svg, x, y, left, right, top, bottom, most, height } = this;
    const label = (at, text, anchor) => svg.append(svgNode("text", { x: at[0], y: at[1], "text-anchor": anchor, class: "f-muted", "font-size": 12 }, text));
    let free = -Infinity;
    for (const rate of [0, 0.01, 0.1, 1, 10, 100, 1000, 10000].filter((rate) => rate <= most && (rate === 0 || rate >= middle / 10))) {
      svg.append(svgNode("path", { d: `M${x(rate)} ${top}V${bottom}`, class: "s-grid" }));
      if (x(rate) > free) { label([x(rate), bottom + 16], grouped(String(rate)), "middle"); free = x(rate) + 26; }
    }
    const step = least >= 0.5 ? 0.1 : 0.25;
    for (let recall = 1; recall >= least - 1e-9; recall -= step) {
      svg.append(svgNode("path", { d: `M${left} ${y(recall)}H${right}`, class: "s-grid" }));
      label([left - 6, y(recall) + 4], `${Math.round(recall * 100)} %`, "end");
    }
    label([(left + right) / 2, height - 6], axis, "middle");
    label([4, 12], up, "start");
  }
  mark(cell, r, role) {
    if (Number.isNaN(this.rates[cell] + this.recalls[cell])) return;
    this.svg.append(svgNode("circle", { cx: this.x(this.rates[cell]), cy: this.y(this.recalls[cell]), r, class: role, "data-cell": cell }));
  }
  // The names of dots: right of the dot, else left of it, where nothing else stands; else the tooltip alone has it.
  names(marks) {
    const there = marks.filter(({ cell }) => !Number.isNaN(this.rates[cell] + this.recalls[cell]));
    const at = ({ cell }) => [this.x(this.rates[cell]), this.y(this.recalls[cell])];
    const taken = there.map((one) => { const [x, y] = at(one); return [x - 6, x + 6, y - 6, y + 6]; });
    const limit = this.limit === null ? NaN : this.x(Math.min(this.limit, this.most));
    if (!Number.isNaN(limit)) taken.push([limit - 4, limit + 4, 0, this.height]);
    for (const one of there) {
      const [x, y] = at(one), node = svgNode("text", { class: "beside", y: y + 4 }, one.name);
      this.svg.append(node);
      const width = node.getComputedTextLength();
      const free = [["start", x + 9, x + 9], ["end", x - 9, x - 9 - width]].find(([, , left]) => {
        const inside = left > this.left && left + width < this.width - 2;
        return inside && taken.every((other) => left + width <= other[0] || other[1] <= left || y + 7 <= other[2] || other[3] <= y - 7);
      });
      if (!free) { node.remove(); continue; }
      node.setAttribute("text-anchor", free[0]);
      node.setAttribute("x", free[1]);
      taken.push([free[2], free[2] + width, y - 7, y + 7]);
    }
  }
  // Where the setting shown stands, and the one compared with.
  moveTo(now) {
    this.now = now;
    this.tip.hidden = true;
    this.marked.forEach((node, n) => {
      const cell = n ? now.cell : now.base, nowhere = Number.isNaN(this.rates[cell] + this.recalls[cell]);
      node.toggleAttribute("hidden", nowhere);
      if (!nowhere) { node.setAttribute("cx", this.x(this.rates[cell])); node.setAttribute("cy", this.y(this.recalls[cell])); }
    });
  }
  handle(axis) {
    const group = svgNode("g", { id: "plane-limit", tabindex: 0, role: "slider", "aria-label": `limit: ${axis}`, "aria-valuemin": 0, "aria-valuemax": this.most.toFixed(2) });
    this.line = svgNode("path", { class: "s-limit limit" });
    this.grab = svgNode("path", { class: "grab" });
    this.grip = svgNode("path", { class: "grip" });
    this.said = svgNode("text", { class: "said", "font-size": 12 });
    group.append(this.line, this.grab, this.grip, this.said);
    return group;
  }
  // Moves the line, dims what is beyond it, and rings the best that is not; null: no limit.
  setLimit(limit, best) {
    this.limit = limit;
    const { top, bottom, left, right } = this, x = this.x(Math.min(limit ?? this.most, this.most));
    this.line.setAttribute("d", `M${x} ${top}V${bottom}`);
    this.grab.setAttribute("d", `M${x} ${top}V${bottom}`);
    this.grip.setAttribute("d", `M${x - 7} ${top - 9}h14v9l-7 8l-7 -8z`);
    const words = limit === null ? "no limit" : `limit ${decimal(limit)}`, before = x > (left + right) / 2;
    this.said.textContent = words;
    this.said.setAttribute("x", before ? x - 12 : x + 12);
    this.said.setAttribute("y", top - 2);
    this.said.setAttribute("text-anchor", before ? "end" : "start");
    this.shade.setAttribute("x", x);
    this.shade.setAttribute("width", Math.max(right + 10 - x, 0));
    const group = byId("plane-limit");
    group.setAttribute("aria-valuenow", (limit ?? this.most).toFixed(2));
    group.setAttribute("aria-valuetext", words);
    if (best === undefined) return;
    this.best.toggleAttribute("hidden", best < 0);
    if (best >= 0) { this.best.setAttribute("cx", this.x(this.rates[best])); this.best.setAttribute("cy", this.y(this.recalls[best])); }
  }
  place(event) {
    const box = this.svg.getBoundingClientRect();
    // A click has whole pixels, and a movement parts of them: what is pointed at is what is clicked.
    return [Math.floor(event.clientX) - box.left, Math.floor(event.clientY) - box.top];
  }
  // The dot next to a place, if one is in reach.
  near(px, py) {
    let found = null, least = REACH * REACH + 1;
    for (let y = Math.max(Math.ceil(py - REACH), 0); y <= Math.min(py + REACH, this.height - 1); y++) {
      for (let x = Math.max(Math.ceil(px - REACH), 0); x <= Math.min(px + REACH, this.width - 1); x++) {
        const far = (x - px) ** 2 + (y - py) ** 2;
        if (far < least && this.heads[y * this.width + x] >= 0) { least = far; found = [x, y]; }
      }
    }
    return found;
  }
  point(event) {
    if (this.dragged || !this.heads) return;
    const dot = event.target.closest("#plane-limit") ? null : this.near(...this.place(event));
    this.svg.classList.toggle("over", dot !== null);
    this.tip.hidden = dot === null;
    if (dot) this.tell(dot);
  }
  tell(dot) {
    const { tip, width } = this;
    tip.replaceChildren(...this.describe(this.at(dot)).map((line) => element("div", {}, line)));
    tip.hidden = false;
    tip.style.left = `${Math.max(0, Math.min(dot[0] + 14, width - tip.offsetWidth))}px`;
    tip.style.top = `${dot[1] + 16}px`;
  }
  drag(event) {
    event.preventDefault();
    this.dragged = true;
    this.tip.hidden = true;
    this.svg.setPointerCapture(event.pointerId);
    const move = (moved) => this.onLimit(this.rateAt(this.place(moved)[0]));
    const end = () => {
      this.svg.removeEventListener("pointermove", move);
      // The click that ends a drag picks no dot.
      setTimeout(() => { this.dragged = false; });
    };
    this.svg.addEventListener("pointermove", move);
    for (const name of ["pointerup", "pointercancel"]) this.svg.addEventListener(name, end, { once: true });
    byId("plane-limit").focus();
  }
  key(event) {
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const way = ways[event.key], onLimit = event.target.closest("#plane-limit");
    if (onLimit) {
      const next = { Home: 0, End: this.most }[event.key] ?? (way ? nextRate(this.rates, this.limit ?? this.most, way[0] || -way[1]) : NaN);
      if (Number.isNaN(next)) return;
      event.preventDefault();
      this.onLimit(next);
      return;
    }
    if (!way) return;
    event.preventDefault();
    const dot = this.beside(way);
    if (dot) { this.onPick(this.at(dot), dot); this.tell(dot); }
  }
  // The next dot in a direction, from that of the setting shown.
  beside([dx, dy]) {
    const { rates, recalls, now: { cell } } = this;
    const x = Math.round(this.x(rates[cell])), y = Math.round(this.y(recalls[cell]));
    let found = null, least = Infinity;
    for (const dot of this.dots) {
      const along = (dot[0] - x) * dx + (dot[1] - y) * dy, across = Math.abs((dot[0] - x) * dy) + Math.abs((dot[1] - y) * dx);
      if (along <= 0 || !(along + 3 * across < least)) continue;
      least = along + 3 * across;
      found = dot;
    }
    return found;
  }
}
