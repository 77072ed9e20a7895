// The operating point on the plane of recall and false alarms: every cell of the family a speck.
const SVG = "http://www.w3.org/2000/svg";
const svgNode = (name, attributes, text) => {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
};
const drawPlot = (svg, points, marks, limit) => {
  const width = Math.max(svg.clientWidth, 240), height = 250;
  const left = 44, right = width - 14, top = 14, bottom = height - 40;
  const rates = points.map((point) => point[0]).concat(marks.map((mark) => mark.at[0]), limit ?? []);
  const most = Math.max(1, ...rates.filter(Number.isFinite)) * 1.3;
  const bend = (rate) => Math.log10(1 + rate / 0.3);
  const x = (rate) => left + ((right - left) * bend(rate)) / bend(most);
  const y = (recall) => bottom - (bottom - top) * recall;
  svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("height", height);
  const label = (at, text, anchor) => svg.append(svgNode("text", { x: at[0], y: at[1], "text-anchor": anchor, class: "f-muted", "font-size": 12 }, text));
  let free = -Infinity;
  for (const rate of [0, 0.1, 1, 10, 100, 1000, 10000].filter((rate) => rate <= most)) {
    svg.append(svgNode("path", { d: `M${x(rate)} ${top}V${bottom}`, class: "s-grid" }));
    if (x(rate) > free) { label([x(rate), bottom + 16], grouped(String(rate)), "middle"); free = x(rate) + 26; }
  }
  for (const recall of [0, 0.25, 0.5, 0.75, 1]) {
    svg.append(svgNode("path", { d: `M${left} ${y(recall)}H${right}`, class: "s-grid" }));
    label([left - 6, y(recall) + 4], `${recall * 100} %`, "end");
  }
  label([(left + right) / 2, height - 6], "false alarms per million clean chars", "middle");
  if (limit !== null) svg.append(svgNode("path", { d: `M${x(limit)} ${top}V${bottom}`, class: "s-limit limit" }));
  const specks = new Set(points.map(([rate, recall]) => `M${x(rate).toFixed(0)} ${y(recall).toFixed(0)}h0`));
  svg.append(svgNode("path", { d: [...specks].join(""), class: "specks" }));
  for (const { at, name, role } of marks) {
    const node = svgNode("circle", { cx: x(at[0]), cy: y(at[1]), r: role === "now" ? 7 : 5, class: `mark ${role}` });
    node.append(svgNode("title", {}, name));
    svg.append(node);
  }
};
