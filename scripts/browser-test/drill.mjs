// The transcripts that a report page opens, and its links.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

// Filter, keys and links of the opened transcripts; hidden chars and markup of strangers. U+FFFD is no hidden char, and recordings
// of models hold it.
export const checkDrill = async (page, url, where, say) => {
  const stray = await page.evaluate(() => {
    const found = [...document.querySelectorAll("#drill :is(script, img, iframe, object, embed, form), a:not([href^='#'], figure a[href^='charts/'])")].map((node) => node.localName);
    if (document.querySelectorAll("script:not([type='application/json'])").length !== 1) found.push("a script more");
    if (/[\u202a-\u202e\u2066-\u2069\u0000\u001b]/.test(document.body.textContent)) found.push("a hidden char");
    return found;
  });
  stray.forEach((what) => say(where, `from a transcript: ${what}`));
  const cases = page.locator("details.case");
  const all = await cases.count();
  if (all < 2) return;
  const id = await cases.nth(1).getAttribute("id");
  await page.goto("about:blank");
  await page.goto(`${url}#${id}`);
  if (!(await page.evaluate((id) => document.getElementById(id).open, id))) say(where, `the link #${id} opens nothing`);
  const unseen = await page.evaluate((id) => [...document.getElementById(id).querySelectorAll(".text")].filter((box) => {
    const pin = box.querySelector(".pin")?.getBoundingClientRect(), at = box.getBoundingClientRect();
    return pin && (pin.top < at.top || pin.bottom > at.bottom);
  }).length, id);
  if (unseen) say(where, `${unseen} boxes of text do not show their first pin`);
  await page.keyboard.press("j");
  if (!(await page.evaluate(() => document.activeElement.localName === "summary"))) say(where, "the key j leads nowhere");
  await page.keyboard.press("/");
  await page.keyboard.type("no such text anywhere");
  if (await page.evaluate(() => [...document.querySelectorAll("details.case")].some((one) => !one.hidden))) say(where, "the filter hides nothing");
};

// Each place on the page that a link leads to, and the numbers of each chart in its file.
export const checkLinks = async (page, path, where, say) => {
  const dead = await page.evaluate(() => [...document.querySelectorAll("nav a")].map((a) => a.hash.slice(1)).filter((id) => !document.getElementById(id)));
  dead.forEach((id) => say(where, `a link leads to ${id}, which is not there`));
  const files = await page.evaluate(() => [...document.querySelectorAll("figure a")].map((a) => a.getAttribute("href")));
  files.filter((file) => !existsSync(join(dirname(path), file))).forEach((file) => say(where, `${file} is not there`));
};
