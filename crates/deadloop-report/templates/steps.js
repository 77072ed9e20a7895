// What the plane and the price list work out; no page is needed for any of it.
// A measure of every cell at once, from columns of counts; NaN where it is n/a.
const everyValue = ({ ratios, joined }, counts, cells, worth) => {
  const summed = (terms) => {
    const sums = new Float64Array(cells);
    for (const [factor, name, responses] of terms) {
      const column = counts[name], weight = factor * (responses ? worth.response : 1);
      for (let n = 0; n < cells; n++) sums[n] += weight * column[n];
    }
    return sums;
  };
  const parts = ratios.map(({ scale, num, den }) => {
    const values = summed(num), whole = summed(den);
    for (let n = 0; n < cells; n++) values[n] = whole[n] > 0 ? scale * (values[n] / whole[n]) : NaN;
    return values;
  });
  if (joined === "alone") return parts[0];
  return Float64Array.from({ length: cells }, (_, n) => {
    const values = parts.map((part) => part[n]);
    return values.some(Number.isNaN) ? NaN : JOINED[joined](values) ?? NaN;
  });
};
// How many wrong alarms each cell has.
const everyCount = ({ ratios: [{ num }] }, counts, cells) => {
  const sums = new Float64Array(cells);
  for (const [, name] of num) for (let n = 0; n < cells; n++) sums[n] += counts[name][n];
  return sums;
};
// Whether a cell is before the best so far: more merit, then fewer wrong alarms, then the first.
const leads = (merits, costs, n, best) => best < 0 || merits[n] > merits[best] || (merits[n] === merits[best] && costs[n] < costs[best]);
// The cells at or below a limit: how many, and the best of them (-1: none).
const under = (costs, merits, limit) => {
  let count = 0, best = -1;
  for (let n = 0; n < costs.length; n++) {
    if (!(costs[n] <= limit) || Number.isNaN(merits[n])) continue;
    count++;
    if (leads(merits, costs, n, best)) best = n;
  }
  return { count, best };
};
// The price list in-sample: for at most 0, 1, 2, 3, 5, 8 … wrong alarms up to `top` the best cell; rows with one cell are one.
const stairs = (wrong, merits, top) => {
  const rows = [];
  for (let [n, next, after] = [0, 1, 2]; n <= top; [n, next, after] = [next, after, n === 0 ? 3 : next + after]) {
    const { best } = under(wrong, merits, n);
    if (best >= 0 && best !== rows.at(-1)?.cell) rows.push({ at_most: n, cell: best });
  }
  return rows;
};
// What the step from one row of a price list to the next buys, in words; `more` is better.
const bought = (before, after, gain, write) => {
  const more = after - before, alarms = `${count(more)} more wrong alarm${more === 1 ? "" : "s"}`;
  const size = write(Math.abs(gain));
  if (isUndefined(gain) || /^[0.]+( points)?$/.test(size)) return `${alarms} buy${more === 1 ? "s" : ""} nothing`;
  return gain > 0 ? `${alarms} buy${more === 1 ? "s" : ""} ${size}` : `${alarms} cost${more === 1 ? "s" : ""} ${size}: held out it is worse`;
};
// The next rate above (`way` 1) or below (-1) a limit at which the cells under it change.
const nextRate = (rates, limit, way) => {
  let found = NaN;
  for (const rate of rates) if ((rate - limit) * way > 1e-12 && !((rate - found) * way >= 0)) found = rate;
  return found;
};
// A settings file with guards of one's own: `file` is the one beside the page, `uses` names of models ("*": all) and guards as TOML.
const collected = (file, uses, head) => {
  const all = uses.find(({ model }) => model === "*"), own = uses.filter(({ model }) => model !== "*");
  const glob = (model) => JSON.stringify(model.replace(/[*?[\]{}!\\]/g, "[$&]")).replace(/\u007f/g, "\\u007f");
  const tables = own.map(({ model, toml }) => `[[model]]\nmatch = ${glob(model)}\n\n${toml.trim().replaceAll("[[guard]]", "[[model.guard]]").replaceAll("[guard.params]", "[model.guard.params]")}\n`);
  // Sections of the file: what stands before the first table, then table after table.
  const sections = [[]];
  for (const line of file.split("\n")) {
    if (/^\s*\[{1,2}\s*[A-Za-z_]/.test(line)) sections.push([]);
    sections.at(-1).push(line);
  }
  const kept = sections.map((lines) => lines.filter((line) => !/^\s*#/.test(line)).join("\n").trim());
  const isGuard = (text) => /^\[{1,2}\s*guard\b/.test(text), isTop = (text) => !text.startsWith("[");
  const top = kept.filter(isTop), guards = all ? [all.toml.trim()] : kept.filter(isGuard);
  const rest = kept.filter((text) => !isTop(text) && !isGuard(text));
  return [`# ${head}`, ...top, ...guards, ...tables, ...rest].map((text) => text.trim()).filter(Boolean).join("\n\n") + "\n";
};
