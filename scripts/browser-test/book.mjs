// Opens the site of the docs from its files, as a reader without a network would: node book.mjs SCREENSHOTS SITE
// Exit codes: 0 all fine, 1 something is wrong, 2 wrong usage, 77 skipped: no Chromium.
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { launched } from "./chromium.mjs";

const [shots, site] = process.argv.slice(2);
if (!site) {
  console.error("usage: node book.mjs SCREENSHOTS SITE");
  process.exit(2);
}
const findings = [];
const say = (where, what) => { findings.push(what); console.error(`FAIL ${where}: ${what}`); };
const at = (path) => pathToFileURL(resolve(site, path)).href;
const PAGES = ["index.html", "docs/first-hour.html", "reference/detectors/periodic.html", "reference/commands/tune.html", "reports/METHOD.html"];

// A page that asks for anything but files, logs an error, or scrolls sideways is wrong.
const opened = async (browser, options, path) => {
  const page = await browser.newPage(options);
  page.on("request", (request) => { if (!/^(file|data|blob):/.test(request.url())) say(path, `asks for ${request.url()}`); });
  page.on("pageerror", (error) => say(path, error.message));
  await page.goto(at(path));
  await page.waitForTimeout(300);
  const over = await page.evaluate(() => document.scrollingElement.scrollWidth - document.documentElement.clientWidth);
  if (over > 0) say(path, `scrolls sideways by ${over} px at ${options.viewport.width} px`);
  return page;
};

mkdirSync(shots, { recursive: true });
const { browser, close } = await launched();
try {
  for (const [name, options] of [
    ["light", { viewport: { width: 1280, height: 840 }, colorScheme: "light" }],
    ["dark", { viewport: { width: 1280, height: 840 }, colorScheme: "dark" }],
    ["narrow", { viewport: { width: 400, height: 840 }, colorScheme: "light" }],
  ]) {
    for (const path of PAGES) {
      const page = await opened(browser, options, path);
      if (name === "dark" && !(await page.evaluate(() => document.documentElement.classList.contains("navy")))) say(path, "is not dark");
      await page.screenshot({ path: join(shots, `book-${name}-${path.replaceAll("/", "-")}.png`) });
      await page.close();
    }
  }
  const page = await opened(browser, { viewport: { width: 1280, height: 840 }, colorScheme: "light" }, "index.html");
  await page.keyboard.press("s");
  await page.waitForTimeout(1500); // the index is loaded at the first search
  await page.keyboard.type("held out");
  await page.waitForTimeout(1500);
  const hits = await page.locator("#mdbook-searchresults li, #searchresults li").allInnerTexts();
  if (!hits.some((hit) => hit.includes("Glossary"))) say("search", `"held out" finds no glossary in ${hits.length} hits`);
  await page.screenshot({ path: join(shots, "book-search.png") });
} finally {
  await close();
}
console.log(findings.length === 0 ? "all fine" : `${findings.length} findings`);
process.exit(findings.length === 0 ? 0 : 1);
