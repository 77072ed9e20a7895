// Opens report pages in headless Chromium and looks at them as a reader would: at 1280 and 400 px, light and dark.
//
//   node check.mjs SCREENSHOTS REPORT.html [REPORT.html ...]
//
// DEADLOOP names the program: with it a review of labels is served and answered too.
//
// Exit codes: 0 all fine, 1 something is wrong (each finding on its own line), 2 wrong usage, 77 skipped: no Chromium.
// CHROMIUM names the browser's program where it is not found by itself.
import { mkdirSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { launched } from "./chromium.mjs";
import { checkAxe, checkPaper, checkReview } from "./beside.mjs";
import { checkDrill, checkLinks } from "./drill.mjs";
import { checkMatrix, checkPlane, checkVerdict } from "./plane.mjs";

const WIDTHS = [1280, 400];
const SCHEMES = ["light", "dark"];
const SLICE = 1800;
const SLICES = 6;
// The most pages of A4 that a report takes, and its bytes. A page of `tune` has less, and a bound on its words, open and with all folds.
const PAPER = 8;
const MOST = 2_000_000;
const TUNED = { paper: 5, bytes: 700_000, words: [4_000, 10_000] };

const findings = [];
const say = (where, what) => { findings.push(`${where}: ${what}`); console.error(`FAIL ${where}: ${what}`); };

// Runs inside the page: geometry of charts and their texts.
const inspect = () => {
  const problems = [];
  const width = document.documentElement.clientWidth;
  if (document.scrollingElement.scrollWidth > width) problems.push(`the page scrolls sideways: ${document.scrollingElement.scrollWidth} px wide in ${width}`);
  const figures = [...document.querySelectorAll("figure, #plane-box")];
  for (const figure of figures) {
    const shown = [...figure.querySelectorAll("svg")].filter((svg) => svg.getClientRects().length > 0);
    if (shown.length !== 1) { problems.push(`${figure.id}: ${shown.length} charts visible, expected one`); continue; }
    const box = shown[0].getBoundingClientRect();
    if (box.width < 100 || box.height < 50) problems.push(`${figure.id}: only ${box.width} x ${box.height} px`);
    const texts = [...shown[0].querySelectorAll("text")].filter((node) => node.lastChild).map((node) => ({ text: node.lastChild.textContent, box: node.getBoundingClientRect(), size: parseFloat(getComputedStyle(node).fontSize) * (box.width / shown[0].viewBox.baseVal.width) }));
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
      const { problems, charts } = await page.evaluate(inspect);
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
  const hidden = await page.locator("figure").evaluateAll((figures) => figures.filter((figure) => !figure.offsetHeight).length).catch(() => 0);
  if (hidden) say(`${name} without scripts`, `${hidden} charts hidden`);
  await context.close();
};

// Runs inside the page: its words as it opens, and with all folds open.
const countWords = () => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), words = [0, 0];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const of = node.parentElement, many = node.textContent.split(/[ \n\t]+/).filter(Boolean).length;
    if (/^(script|style|title)$/i.test(of.tagName) || of.closest("[hidden]")) continue;
    words[1] += many;
    if (of.checkVisibility()) words[0] += many;
  }
  return words;
};

// What can be done with a page: once, in one size.
const checkUse = async (browser, path) => {
  const url = pathToFileURL(resolve(path)).href;
  const where = `${basename(dirname(resolve(path)))} in use`;
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, permissions: ["clipboard-read", "clipboard-write"] });
  const page = await openPage(context, url, where);
  const bytes = statSync(path).size, tuned = path.includes("/small/");
  const most = tuned ? TUNED.bytes : MOST;
  if (bytes > most) say(where, `${bytes} bytes; expected at most ${most}`);
  const words = await page.evaluate(countWords);
  if (tuned) TUNED.words.forEach((most, n) => { if (words[n] > most) say(where, `${words[n]} words; expected at most ${most}`); });
  console.log(`${where}: ${bytes} bytes, ${words[0]} words, ${words[1]} with all folds`);
  await checkPlane(page, where, say);
  await checkAxe(page, where, say);
  await checkVerdict(page, where, say);
  await checkMatrix(page, where, say);
  await checkLinks(page, resolve(path), where, say);
  await checkDrill(page, url, where, say);
  await context.close();
  await checkPaper(browser, url, `${basename(dirname(resolve(path)))} on paper`, say, tuned ? TUNED.paper : PAPER);
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
  for (const report of reports) {
    await checkReport(browser, report, shots);
    await checkUse(browser, report);
    await checkFiles(browser, report);
  }
  if (process.env.DEADLOOP) await checkReview(browser, process.env.DEADLOOP, shots, say);
} finally {
  await close();
}
console.log(findings.length === 0 ? "all fine" : `${findings.length} findings`);
process.exit(findings.length === 0 ? 0 : 1);
