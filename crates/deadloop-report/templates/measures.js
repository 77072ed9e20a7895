// Measures by the table that the page brings along: what crates/deadloop-score/src/measure/mod.rs says of each is data here.
const JOINED = {
  alone: ([only]) => only,
  "break-even": ([s, w]) => (s > 0 ? w / (s + w) : null),
};
// A term: a factor, a count's name, and whether the factor is one of mean clean responses.
const sumOf = (terms, count, worth) => terms.reduce((sum, [factor, name, responses]) => sum + factor * (responses ? worth.response : 1) * count(name), 0);
const valueOf = ({ ratios, joined }, count, worth) => {
  const values = ratios.map(({ scale, num, den }) => {
    const whole = sumOf(den, count, worth);
    return whole > 0 ? scale * (sumOf(num, count, worth) / whole) : null;
  });
  return values.includes(null) ? null : JOINED[joined](values);
};
// Of how much it is a ratio: k of n; of a mean there is none.
const countedOf = ({ ratios: [{ num, den }], certainty }, count) => (certainty === "resampled" ? null : [num, den].map((terms) => terms.reduce((sum, [, name]) => sum + count(name), 0)));
// The 95 % interval where it has a closed form; `poisson` has the bounds of the events that occur.
const endsOf = (measure, count, poisson) => {
  const [k, n] = countedOf(measure, count) ?? [];
  if (!n) return null;
  if (measure.certainty === "share") return wilson(k, n);
  return poisson[k]?.map((events) => (measure.ratios[0].scale * events) / n) ?? null;
};
const WRITTEN = { share: percent, "per-million": decimal, chars };
const writerOf = ({ unit }) => WRITTEN[unit];
