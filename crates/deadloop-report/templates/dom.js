// Making and finding nodes.
const element = (name, attributes = {}, ...children) => {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) node.setAttribute(key, value);
  node.append(...children);
  return node;
};
const byId = (id) => document.getElementById(id);
// Numbers of the page are written as src/numbers.rs writes them.
const count = (value) => String(Math.round(value)).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
// Reads back what src/pack.rs packed: JSON, deflate, base64.
const unpacked = async (text) => {
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text());
};
