import { readFileSync } from 'node:fs';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { inFirefox } from './browser';

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/**
 * With the rule that targets have 24 pixels (WCAG 2.5.8), which axe leaves out by default. Returns only the names of the
 * passed rules: serialising all results takes as long as the check itself.
 */
const CHECK = `axe.run({ rules: { 'target-size': { enabled: true } } })
  .then(({ violations, passes }) => ({ violations, passed: passes.map(({ id }) => id) }))`;

/** The size of a small phone, in pixels. */
export const PHONE = { width: 360, height: 740 };

/**
 * The violations that axe finds in the page, after its view is loaded: a view is faint while it loads. Chromium only: axe
 * ends the process of the page in Firefox 153 (segmentation fault).
 */
export async function violationsIn(page: Page): Promise<string[]> {
  if (inFirefox) return [];
  await page.locator('main[aria-busy]').waitFor({ state: 'detached' });
  // A text that arrives is faint, too.
  await page.evaluate(`Promise.all(document.getAnimations()
    .filter(({ effect }) => Number.isFinite(effect.getComputedTiming().endTime))
    .map(({ finished }) => finished.catch(() => undefined)))`);
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(AXE);
  const { violations, passed } = await page.evaluate<Pick<AxeResults, 'violations'> & { passed: string[] }>(CHECK);
  expect(passed).toContain('color-contrast');
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

/** By how many pixels the page, or the element in which it scrolls, is too wide. */
export async function overflowOf(page: Page): Promise<string[]> {
  const wider = await page.evaluate<number>(`Math.max(document.documentElement.scrollWidth - innerWidth,
    ...[...document.querySelectorAll('#page')].map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth))`);
  return wider > 0 ? [`${wider} pixels too wide`] : [];
}

/** The violations that axe finds in light and in dark mode, and by how many pixels the page is too wide. */
export async function findingsIn(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    found.push(...(await violationsIn(page)).map((violation) => `${colorScheme}: ${violation}`));
  }
  return [...found, ...(await overflowOf(page))];
}
