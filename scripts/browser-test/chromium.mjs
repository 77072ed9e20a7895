// Headless Chromium, for whoever looks at a page. CHROMIUM names the program where it is not found by itself. Where there is none,
// the process ends with exit code 77: skipped.
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

const FLAGS = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars"];

const findChromium = () => {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const names = ["chromium", "chromium-browser", "google-chrome"];
  const candidates = [process.env.CHROMIUM, ...folders.flatMap((folder) => names.map((name) => join(folder, name)))];
  return candidates.filter(Boolean).find((path) => {
    try { accessSync(path, constants.X_OK); return true; } catch { return false; }
  });
};

/** A browser with a profile of its own, and the function that ends both. */
export const launched = async () => {
  const executablePath = findChromium();
  if (!executablePath) {
    console.error("skipped: chromium is not installed (Debian: apt-get install chromium fonts-wqy-microhei), or name it in CHROMIUM");
    process.exit(77);
  }
  const { chromium } = await import("playwright-core").catch(() => {
    console.error("playwright-core is not installed: run `npm ci` in scripts/browser-test");
    process.exit(2);
  });
  const profile = mkdtempSync(join(tmpdir(), "deadloop-browser-"));
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", ...FLAGS], env: { ...process.env, HOME: profile } });
  const close = async () => {
    await browser.close();
    rmSync(profile, { recursive: true, force: true });
  };
  return { browser, close };
};
