// Clicks and types on the plane of a report page, chooses a model, and looks at the verdict and the table of guards.
import { readFileSync } from "node:fs";

const shown = (page) => page.evaluate(() => ({
  name: document.getElementById("dot-name").textContent, model: document.getElementById("plane-model").value,
  figures: [...document.querySelectorAll("#dot-figures dd")].map((node) => node.textContent),
  differs: [...document.querySelectorAll("#dot-differs li")].map((node) => node.textContent),
  picked: document.querySelectorAll(".plane:not([hidden]) .picked").length, toml: document.getElementById("dot-toml").textContent,
}));

// A dot shows its figures and its settings file, by mouse and by keys; a model has a plane of its own, and the page follows.
export const checkPlane = async (page, where, say) => {
  if (!(await page.locator("#plane-data").count())) return;
  await page.waitForSelector("#dot:not([hidden])", { timeout: 20000 }).catch(() => say(where, "the dots never came"));
  const dots = page.locator(".plane:not([hidden]) [data-dot]"), all = await dots.count();
  const first = await shown(page);
  if (!first.name || !first.figures.length) say(where, `the first dot shows ${first.name}, ${first.figures}`);
  const names = new Set();
  for (let n = 0; n < all; n += Math.ceil(all / 12)) {
    await dots.nth(n).dispatchEvent("click");
    const now = await shown(page);
    names.add(now.name);
    // A named parameter has its meaning before it, and two values behind it.
    const bare = now.differs.find((text) => !/^[^:]+: (added|removed|what is read channel .*|.+ [a-z_]+ .+ → .+)\s*$/s.test(text));
    if (bare) say(where, `dot ${n} differs by ${bare}`);
    if (now.name.includes("=") && !now.differs.length) say(where, `${now.name} does not say what differs`);
    if (/, …|\bmore\b/.test(now.name)) say(where, `${now.name} leaves something out`);
    if (!now.picked || !now.figures.length || now.figures.some((text) => /NaN|undefined|null/.test(text))) say(where, `dot ${n} shows ${now.figures}`);
  }
  if (all > 8 && names.size < 3) say(where, `${all} dots with ${names.size} names`);
  // On the strip for 0, and elsewhere in a column, no dot lies on another.
  const covered = await page.evaluate(() => {
    const dots = [...document.querySelectorAll(".plane:not([hidden]) circle[data-dot]")].filter((node) => node.getAttribute("r") === "3");
    const at = dots.map((node) => [Number(node.getAttribute("cx")), Number(node.getAttribute("cy"))]);
    const first = Math.min(...at.map(([x]) => x)), strip = at.filter(([x]) => x < first + 95);
    return strip.filter(([x, y], n) => strip.slice(n + 1).some(([p, q]) => Math.hypot(x - p, y - q) < 5)).length;
  });
  if (covered) say(where, `${covered} dots of the strip lie on others`);
  await page.locator(".plane:not([hidden])").focus();
  const before = await shown(page);
  await page.keyboard.press("ArrowRight");
  const after = await shown(page);
  if (all > 3 && before.name === after.name && before.figures.join() === after.figures.join()) say(where, "the arrow keys lead to no other dot");
  if (after.toml) {
    const [saved] = await Promise.all([page.waitForEvent("download"), page.locator("#dot-take button").nth(1).click()]);
    if (readFileSync(await saved.path(), "utf8") !== after.toml) say(where, "what is saved is not what is shown");
  }
  const models = await page.locator("#plane-model option").evaluateAll((options) => options.map(({ value }) => value).filter(Boolean));
  for (const model of models.slice(0, 3)) {
    await page.selectOption("#plane-model", model);
    const others = await page.evaluate((model) => {
      const cases = [...document.querySelectorAll("details.case")].filter((one) => !one.hidden && one.dataset.model !== model).map((one) => one.id);
      const rows = [...document.querySelectorAll("#matrix-rows tr")].filter((row) => row.cells[1] && row.cells[1].textContent !== model);
      return cases.concat(rows.map((row) => row.textContent.slice(0, 40)));
    }, model);
    if (others.length) say(where, `only ${model} was wanted, and there is ${others[0]}`);
    if ((await shown(page)).model !== model) say(where, `${model} was chosen, and its plane is not shown`);
  }
  if (models.length) await page.click("#only-none");
  if ((await shown(page)).model !== "") say(where, "the way back to all models leads nowhere");
  console.log(`${where}: ${all} dots, ${models.length} models`);
};

// Copying the file of the verdict, and that it stands on the first screen.
export const checkVerdict = async (page, where, say) => {
  if (!(await page.locator("#advice").count())) return;
  for (const width of [1280, 400]) {
    await page.setViewportSize({ width, height: 900 });
    await page.evaluate(() => scrollTo(0, 0));
    const low = await page.evaluate(() => ["#advice .badge", "#advice .verdict", "#take"].filter((name) => { const node = document.querySelector(name); return node && node.getBoundingClientRect().bottom > innerHeight; }));
    if (low.length) say(where, `${low.join()} not on the first screen at ${width} px`);
    // What was ended, saved, wrong, and how late.
    const cards = await page.evaluate(() => [...document.querySelectorAll("header .figures section")].map((card) => [card.querySelector("h2").textContent.split(/[: ]/)[0], card.getBoundingClientRect().bottom <= innerHeight]));
    const missing = ["ended", "saved", "wrong", "delay"].filter((name) => !cards.some(([card, seen]) => card === name && (seen || width < 720)));
    if (cards.length && missing.length) say(where, `no card on the first screen at ${width} px: ${missing.join()}`);
  }
  await page.setViewportSize({ width: 1280, height: 900 });
  if (!(await page.locator("#take button").count())) return;
  await page.locator("#take button").first().click();
  await page.waitForFunction(() => /^(copied|selected)/.test(document.querySelector("#take button").textContent), null, { timeout: 1900, polling: 20 }).catch(() => {});
  const [said, text, clip] = await page.evaluate(async () => [document.querySelector("#take button").textContent, document.querySelector("#settings pre").textContent, await navigator.clipboard.readText().catch(() => getSelection().toString())]);
  if (!/^(copied|selected)/.test(said) || clip.trim() !== text.trim()) say(where, `the copy button says ${said}, and copied ${clip.slice(0, 40)}`);
};

// The matrix: fewer rows with only differences; every name opens something.
export const checkMatrix = async (page, where, say) => {
  if (!(await page.locator("#matrix-data").count())) return;
  await page.waitForSelector("#matrix:not([hidden])", { timeout: 20000 }).catch(() => say(where, "the matrix never came"));
  const told = async () => Number((await page.locator("#matrix-told").textContent()).split(" of ")[0].replace(/\D/g, ""));
  await page.locator("#matrix-differ").setChecked(false);
  const all = await told();
  await page.locator("#matrix-differ").setChecked(true);
  const differing = await told();
  const alike = await page.evaluate(() => [...document.querySelectorAll("#matrix-rows tr")].filter((row) => new Set([...row.querySelectorAll("td.sign")].map((cell) => cell.className)).size < 2).length);
  if (differing > all || alike) say(where, `${differing} of ${all} transcripts differ, ${alike} of those shown do not`);
  if (!all) { say(where, "the matrix has no row"); return; }
  if (!differing) await page.locator("#matrix-differ").setChecked(false);
  const dead = await page.evaluate(async () => {
    const dead = [];
    for (const name of [...document.querySelectorAll("#matrix-rows .named")].filter((_, n) => n % 17 === 0)) {
      const before = location.hash, row = name.closest("tr");
      name.click();
      await new Promise((done) => setTimeout(done));
      const opened = document.querySelector(`details.case[open] summary:focus`);
      if (!(opened && location.hash.startsWith("#t=")) && !row.nextElementSibling?.classList.contains("how")) dead.push(`${name.textContent} (${before})`);
    }
    return dead;
  });
  if (dead.length) say(where, `${dead.length} names open nothing: ${dead[0]}`);
  console.log(`${where}: ${differing} of ${all} transcripts on which guards differ`);
};
