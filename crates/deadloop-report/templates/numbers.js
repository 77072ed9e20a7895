// Numbers as src/numbers.rs writes them, and the intervals that need no table.
const UNDEFINED = "n/a";
const isUndefined = (value) => value === null || value === undefined || Number.isNaN(value);
const grouped = (digits) => digits.replace("-", "−").replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
const count = (value) => grouped(String(Math.round(value)));
const chars = (value) => (isUndefined(value) ? UNDEFINED : value === Infinity ? "never" : grouped(value.toFixed(0)));
const decimal = (value) => {
  if (isUndefined(value)) return UNDEFINED;
  if (!Number.isFinite(value)) return "never";
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size < 0.995 ? value.toFixed(2).replace("-", "−") : size < 99.5 ? value.toFixed(1).replace("-", "−") : grouped(value.toFixed(0));
};
const percent = (value) => {
  if (isUndefined(value)) return UNDEFINED;
  const hundred = value * 100, size = Math.abs(hundred);
  const whole = hundred === 0 || hundred === 100 || (size >= 9.95 && size <= 99);
  return `${hundred.toFixed(whole ? 0 : 1).replace("-", "−")} %`;
};
const rangeOf = (ends, write) => (ends ? `${write(ends[0]).replace(" %", "")}–${write(ends[1])}` : "");
// Of shares in points: 79 % is 19 points more than 60 %.
const points = (share) => `${(share * 100).toFixed(1)} points`;
const difference = (now, base, write) => {
  if (isUndefined(now) || isUndefined(base) || !Number.isFinite(now - base)) return "";
  const written = (write === percent ? points : write)(Math.abs(now - base));
  return /^[0.]+( points)?$/.test(written) ? "±0" : `${now > base ? "+" : "−"}${written}`;
};
const Z = 1.959963984540054;
const wilson = (hits, of) => {
  if (!of) return null;
  const p = hits / of, z2 = Z * Z, whole = 1 + z2 / of;
  const middle = (p + z2 / (2 * of)) / whole;
  const half = (Z / whole) * Math.sqrt((p * (1 - p)) / of + z2 / (4 * of * of));
  return [hits === 0 ? 0 : middle - half, hits === of ? 1 : middle + half];
};
