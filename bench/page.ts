import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';

const PAGE = join(__dirname, '../docs/performance.md');
const [BEGIN, END] = ['<!-- npm run bench: begin -->', '<!-- npm run bench: end -->'];

/** Puts a run's figures in the place of those in `docs/performance.md`. @throws when the page has no place for them */
export async function writePage(figures: string): Promise<void> {
  const page = await readFile(PAGE, 'utf8');
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`${PAGE} has no ${BEGIN} before an ${END}`);
  const text = `${page.slice(0, begin)}${BEGIN}\n\n${figures}\n\n${page.slice(end)}`;
  await writeFile(PAGE, await format(text, { ...(await resolveConfig(PAGE)), parser: 'markdown' }));
}
