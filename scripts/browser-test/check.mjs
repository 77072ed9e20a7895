// Opens report pages in headless Chromium and looks at them as a reader would: at 1280 and 400 px, light and dark.
//
//   node check.mjs SCREENSHOTS REPORT.html [REPORT.html ...]
//
// A page that is called history.html is looked at as the history of several runs. DEADLOOP names the program: with it a review of labels is
// served and answered too.
//
// Exit codes: 0 all fine, 1 something is wrong (each finding on its own line), 2 wrong usage, 77 skipped: no Chromium.
// CHROMIUM names the browser's program where it is not found by itself.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { launched } from "./chromium.mjs";
import { checkAxe, checkHistory, checkPaper, checkReview, checkWhole } from "./beside.mjs";
import { checkMatrix, checkPlane, checkSteps, checkVerdict } from "./plane.mjs";
import { checkDrill, checkNumbers, checkRounding, checkSliders, checkSpeed } from "./sliders.mjs";

const WIDTHS = [1280, 400];
const SCHEMES = ["light", "dark"];
const SLICE = 1800;
const SLICES = 6;
// The most pages of A4 that a report takes.
const PAPER = 8;

const findings = [];
const say = (where, what) => { findings.push(`${where}: ${what}`); console.error(`FAIL ${where}: ${what}`); };

// Runs inside the page: geometry of charts and their texts.
const inspect = () => {
  const problems = [];
  const width = document.documentElement.clientWidth;
  if (document.scrollingElement.scrollWidth > width) problems.push(`the page scrolls sideways: ${document.scrollingElement.scrollWidth} px wide in ${width}`);
  const figures = [...document.querySelectorAll("figure")];
  for (const figure of figures) {
    const shown = [...figure.querySelectorAll("svg")].filter((svg) => svg.getClientRects().length > 0);
    if (shown.length !== 1) { problems.push(`${figure.id}: ${shown.length} charts visible, expected one`); continue; }
    const box = shown[0].getBoundingClientRect();
    if (box.width < 100 || box.height < 50) problems.push(`${figure.id}: only ${box.width} x ${box.height} px`);
    if (box.left < 0 || box.right > width + 0.5) problems.push(`${figure.id}: reaches from ${box.left} to ${box.right} in ${width}`);
    const texts = [...shown[0].querySelectorAll("text")].map((node) => ({ text: node.lastChild.textContent, box: node.getBoundingClientRect(), size: parseFloat(getComputedStyle(node).fontSize) * (box.width / shown[0].viewBox.baseVal.width) }));
    if (texts.length === 0) problems.push(`${figure.id}: no text`);
    for (const { text, box: at, size } of texts) {
      if (at.left < box.left - 1.5 || at.right > box.right + 1.5 || at.top < box.top - 1.5 || at.bottom > box.bottom + 1.5) problems.push(`${figure.id}: "${text}" is cut off at the edge`);
      if (size < 11) problems.push(`${figure.id}: "${text}" is ${size.toFixed(1)} px small`);
    }
    for (let a = 0; a < texts.length; a++) {
      for (let b = a + 1; b < texts.length; b++) {
        const [p, q] = [texts[a].box, texts[b].box];
        const across = Math.min(p.right, q.right) - Math.max(p.left, q.left);
        const down = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
        if (across > 1 && down > 4) problems.push(`${figure.id}: "${texts[a].text}" and "${texts[b].text}" overlap`);
      }
    }
  }
  // The first table, of the choices: model, recall and false alarms without scrolling.
  const third = document.querySelector("#models thead th:nth-child(3)");
  if (third && third.getBoundingClientRect().right > width) problems.push(`the table of models shows less than three columns in ${width} px`);
  if (document.querySelector("script[src], link[rel=stylesheet], img, iframe, object, embed")) problems.push("the page names an outside file");
  return { problems, charts: figures.length };
};

// A page whose console, errors and requests are findings.
const openPage = async (context, url, where) => {
  const page = await context.newPage();
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) say(where, `console: ${message.text()}`); });
  page.on("pageerror", (error) => say(where, `script error: ${error.message}`));
  page.on("request", (request) => { if (request.url().split("#")[0] !== url && !request.url().startsWith("data:") && request.url() !== "about:blank") say(where, `asked for ${request.url()}`); });
  page.on("dialog", (dialog) => { say(where, `a dialog opened: ${dialog.message()}`); dialog.dismiss(); });
  await page.goto(url);
  return page;
};

const background = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

// A long page is more than Chromium can capture at once: the first few screens of SLICE px.
const takeShots = async (page, width, stem) => {
  await page.setViewportSize({ width, height: SLICE });
  const height = await page.evaluate(() => document.scrollingElement.scrollHeight);
  const slices = Math.min(Math.ceil(height / SLICE), SLICES);
  for (let n = 0; n < slices; n++) {
    await page.evaluate((y) => scrollTo(0, y), n * SLICE);
    await page.screenshot({ path: `${stem}-${n + 1}.png` });
  }
};

const checkControls = async (page, where) => {
  const before = await background(page);
  await page.click("#theme");
  if ((await background(page)) === before) say(where, "the theme button changes nothing");
  const head = page.locator("thead th:not(.still):visible").first(); // others wait in folds
  if (await head.count()) {
    await head.click();
    if ((await head.getAttribute("aria-sort")) !== "ascending") say(where, "a click on a column does not sort");
  }
};

const checkReport = async (browser, path, shots) => {
  const url = pathToFileURL(resolve(path)).href;
  const name = basename(dirname(resolve(path)));
  for (const width of WIDTHS) {
    const grounds = [];
    for (const colorScheme of SCHEMES) {
      const where = `${name} ${width} ${colorScheme}`;
      const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
      const page = await openPage(context, url, where);
      // Charts are looked at unfolded, and folded again for the pictures.
      const fold = (open) => page.evaluate((open) => document.querySelectorAll("details.appendix").forEach((one) => { one.open = open; }), open);
      await fold(true);
      const { problems, charts } = await page.evaluate(inspect);
      await fold(false);
      problems.forEach((problem) => say(where, problem));
      grounds.push(await background(page));
      await takeShots(page, width, join(shots, `${name}-${width}-${colorScheme}`));
      await checkControls(page, where);
      console.log(`${where}: ${charts} charts, ${problems.length} problems`);
      await context.close();
    }
    if (grounds[0] === grounds[1]) say(`${name} ${width}`, "light and dark look the same");
  }
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, javaScriptEnabled: false });
  const page = await openPage(context, url, `${name} without scripts`);
  await page.locator("details.appendix > summary").evaluateAll((folds) => folds.forEach((fold) => fold.click())).catch(() => {});
  const hidden = await page.locator("figure").evaluateAll((figures) => figures.filter((figure) => !figure.offsetHeight).length).catch(() => 0);
  if (hidden) say(`${name} without scripts`, `${hidden} charts hidden`);
  await context.close();
};

// What can be done with a page: once, in one size.
const checkUse = async (browser, path) => {
  const url = pathToFileURL(resolve(path)).href;
  const where = `${basename(dirname(resolve(path)))} in use`;
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, permissions: ["clipboard-read", "clipboard-write"] });
  const page = await openPage(context, url, where);
  if (await page.locator("#board-data").count()) {
    await checkSpeed(page, statSync(path).size, where, say);
    await checkSliders(page, resolve(path), where, say);
    await checkPlane(page, resolve(path), where, say);
  }
  await checkAxe(page, where, say);
  await checkVerdict(page, where, say);
  await checkMatrix(page, where, say);
  await checkNumbers(page, resolve(path), where, say);
  await checkDrill(page, url, where, say);
  await context.close();
  await checkPaper(browser, url, `${basename(dirname(resolve(path)))} on paper`, say, PAPER);
};

// The history of several runs.
const checkPast = async (browser, path) => {
  const where = `${basename(dirname(resolve(path)))} in use`;
  for (const colorScheme of SCHEMES) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme });
    const url = pathToFileURL(resolve(path)).href, page = await openPage(context, url, where);
    await checkHistory(page, resolve(path), where, say);
    await context.close();
    await checkPaper(browser, url, `${where}, on paper`, say, PAPER);
  }
};

const checkFiles = async (browser, path) => {
  const folder = join(dirname(resolve(path)), "charts");
  for (const file of readdirSync(folder).filter((file) => file.endsWith(".svg"))) {
    const colors = [];
    for (const colorScheme of SCHEMES) {
      const context = await browser.newContext({ colorScheme });
      const page = await openPage(context, pathToFileURL(join(folder, file)).href, file);
      colors.push(await page.evaluate(() => getComputedStyle(document.querySelector("text")).fill));
      await context.close();
    }
    if (colors[0] === colors[1]) say(file, "the file looks the same in light and dark");
  }
};

const [shots, ...reports] = process.argv.slice(2);
if (!shots || reports.length === 0) {
  console.error("usage: node check.mjs SCREENSHOTS REPORT.html [REPORT.html ...]");
  process.exit(2);
}
mkdirSync(shots, { recursive: true });
const { browser, close } = await launched();
try {
  checkRounding(say);
  checkSteps(say);
  for (const report of reports) {
    await checkReport(browser, report, shots);
    await (basename(report) === "history.html" ? checkPast : checkUse)(browser, report);
    await checkFiles(browser, report);
    if (existsSync(join(dirname(resolve(report)), "transcripts.html"))) await checkWhole(browser, pathToFileURL(resolve(report)).href, `${basename(dirname(resolve(report)))} whole`, say, shots);
  }
  if (process.env.DEADLOOP) await checkReview(browser, process.env.DEADLOOP, shots, say);
} finally {
  await close();
}
console.log(findings.length === 0 ? "all fine" : `${findings.length} findings`);
process.exit(findings.length === 0 ? 0 : 1);
