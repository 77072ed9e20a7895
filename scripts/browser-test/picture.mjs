// The first screen of a report, as README shows it: node picture.mjs REPORT.html PICTURE.png TEXT
// TEXT gets the words of that screen, so that a test can tell whether the picture shows what the page shows today.
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { launched } from "./chromium.mjs";

const [report, picture, words] = process.argv.slice(2);
if (!words) {
  console.error("usage: node picture.mjs REPORT.html PICTURE.png TEXT");
  process.exit(2);
}

// Runs inside the page: the texts that are wholly on the first screen, from top to bottom.
const onScreen = () => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    const text = node.textContent.replace(/\s+/g, " ").trim();
    const shown = node.parentElement.checkVisibility() && box.width > 1 && box.height > 1 && box.top >= 0 && box.bottom <= innerHeight;
    if (text && shown) seen.push(text);
  }
  return seen.join("\n");
};

const { browser, close } = await launched();
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 840 }, colorScheme: "light" });
  await page.goto(pathToFileURL(resolve(report)).href);
  await page.waitForTimeout(500);
  await page.screenshot({ path: picture });
  writeFileSync(words, `${await page.evaluate(onScreen)}\n`);
} finally {
  await close();
}
