// Reads back what src/board packed: deflate in base64, whole numbers as differences of seven bits a byte.
const unpacked = async (text) => {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let at = 0; at < raw.length; at++) bytes[at] = raw.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
};
class Numbers {
  constructor(bytes) { this.bytes = bytes; this.at = 0; }
  get done() { return this.at >= this.bytes.length; }
  next() {
    let byte = this.bytes[this.at++];
    if (byte < 128) return byte;
    let value = byte - 128, scale = 128;
    do { byte = this.bytes[this.at++]; value += (byte & 127) * scale; scale *= 128; } while (byte > 127);
    return value;
  }
  // So many numbers of a column.
  column(length) {
    const values = new Float64Array(length);
    let last = 0;
    for (let n = 0; n < length; n++) {
      const step = this.next();
      last += step % 2 ? -(step + 1) / 2 : step / 2;
      values[n] = last;
    }
    return values;
  }
  // All numbers of a column.
  rest() {
    const values = [];
    for (let last = 0; !this.done;) {
      const step = this.next();
      last += step % 2 ? -(step + 1) / 2 : step / 2;
      values.push(last);
    }
    return values;
  }
}
const columnOf = async (text) => new Numbers(await unpacked(text)).rest();

// The counts of a model: a column for each name.
const countsOf = async (model, names, cells) => {
  const numbers = new Numbers(await unpacked(model.counts));
  return Object.fromEntries(names.map((name) => [name, numbers.column(cells)]));
};
// What stands beside the sliders of a cell: counts by name, and measures from them.
const scoresOf = (counts, cell, { loops, named, poisson, worth }) => {
  const count = (name) => counts[name][cell];
  return {
    count, loops: loops.reduce((sum, name) => sum + count(name), 0),
    value: (name) => (named.has(name) ? valueOf(named.get(name), count, worth) : null),
    ends: (name) => endsOf(named.get(name), count, poisson),
    of: (name) => countedOf(named.get(name), count),
  };
};

// Cells with the same parameters: the values along each axis, and which cell stands where.
const familyOf = async (family, params) => {
  const cells = await columnOf(family.cells);
  const axes = [];
  for (const [param, packed] of family.axes) {
    const places = await columnOf(packed);
    const { name, values: all } = params[param];
    const used = [...new Set(places)];
    const numeric = used.every((at) => all[at].trim() !== "" && Number.isFinite(Number(all[at])));
    used.sort((a, b) => (numeric ? Number(all[a]) - Number(all[b]) : a - b));
    const index = new Map(used.map((place, at) => [place, at]));
    axes.push({ name, param, values: used.map((at) => all[at]), at: places.map((place) => index.get(place)) });
  }
  const strides = axes.map((_, axis) => axes.slice(axis + 1).reduce((n, { values }) => n * values.length, 1));
  const keyOf = (at) => at.reduce((key, value, axis) => key + value * strides[axis], 0);
  const nth = new Map();
  for (let n = 0; n < cells.length; n++) {
    let key = 0;
    for (let axis = 0; axis < axes.length; axis++) key += axes[axis].at[n] * strides[axis];
    // Two grids may hold one setting: the first is meant.
    if (!nth.has(key)) nth.set(key, n);
  }
  const position = (n) => axes.map((axis) => axis.at[n]);
  return {
    name: family.name, toml: family.toml, axes, cells, position,
    find: (at) => nth.get(keyOf(at)),
    // The nearest that is there with the value `held` along one axis: not every combination was possible.
    nearest(at, axisHeld) {
      let best, least = Infinity;
      for (let n = 0; n < cells.length; n++) {
        if (axisHeld !== null && axes[axisHeld].at[n] !== at[axisHeld]) continue;
        let far = 0;
        for (let axis = 0; axis < axes.length; axis++) far += Math.abs(axes[axis].at[n] - at[axis]);
        if (far < least) { least = far; best = n; }
      }
      return best;
    },
  };
};
