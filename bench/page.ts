import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';

const PAGE = join(__dirname, 'figures.md');

/**
 * Prints the figures of a run. With `BENCH_WRITE` it also replaces those between `<!-- name -->` and `<!-- /name -->` in
 * `bench/figures.md`.
 *
 * @throws if the page has no such place
 */
export async function publish(name: string, figures: string): Promise<void> {
  process.stdout.write(`${figures}\n`);
  if (!process.env.BENCH_WRITE) return;
  const page = await readFile(PAGE, 'utf8');
  const [opening, closing] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [from, to] = [page.indexOf(opening), page.indexOf(closing)];
  if (from < 0 || to < from) throw new Error(`${PAGE} has no ${opening} before a ${closing}`);
  const text = `${page.slice(0, from)}${opening}\n\n${figures}\n\n${page.slice(to)}`;
  await writeFile(PAGE, await format(text, { ...(await resolveConfig(PAGE)), parser: 'markdown' }));
}
