/** What tells how long nothing has come. */

/** Milliseconds from which on nothing is silence. */
export const SILENT = 1000;

/**
 * What a promise gives, while each second in which it gives nothing is told to `tick`; null where that says that nobody waits
 * any longer.
 */
export async function ticking<T>(waited: Promise<T>, tick: () => boolean): Promise<T | null> {
  const quiet = Symbol();
  for (;;) {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const second = new Promise<typeof quiet>((resolve) => {
      timer = setTimeout(() => resolve(quiet), SILENT);
    });
    const first = await Promise.race([waited, second]).finally(() => clearTimeout(timer));
    if (first !== quiet) return first as T;
    if (tick()) {
      waited.catch(() => {}); // what becomes of it nobody hears
      return null;
    }
  }
}
