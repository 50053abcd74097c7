// What the search of the site finds first. Functions in the configuration would need a policy that allows `eval`, so the theme sets them.
import type { SiteData } from 'vitepress';
import type { Ref } from 'vue';

/** Parts of the site that answer fewer questions, each with the weight of its pages. The first that fits applies. */
const WEIGHTS: readonly (readonly [pages: RegExp, weight: number])[] = [
  [/^(?:api\/|changelog\b)/, 0.02],
  [/^(?:decisions\/|(?:invariants|standards|specification|performance|scale|security|contributing|glossary)\b)/, 0.1],
  [/^(?:recipes\/from-|(?:options|routes|sample|packages|support|upgrading|contents)\b)/, 0.4],
];

/** Words that say nothing about the task. */
const WITHOUT_MEANING = new Set(
  'a an and are by can do does for how i in is it my of on or the to what with'.split(' '),
);

/** Other words for words of the pages. */
const SAME: Readonly<Record<string, readonly string[]>> = {
  log: ['sign'],
  logout: ['log', 'out'],
  signin: ['login'],
  oauth: ['social'],
  mfa: ['two-factor'],
  '2fa': ['two-factor'],
};

/** @param id the address of a section: `/base/page.html#section`. @param isBeginning of a page, which says what the page is for */
export function weightOf(id: string, base: string, isBeginning: boolean): number {
  const page = id.slice(base.length);
  const weight = WEIGHTS.find(([pages]) => pages.test(page))?.[1] ?? 1;
  return isBeginning ? 2 * weight : weight;
}

/** The words to look for in place of a word of the question. Null: none. */
export function askedFor(term: string): string[] | null {
  const word = term.toLowerCase();
  return WITHOUT_MEANING.has(word) ? null : [word, ...(SAME[word] ?? [])];
}

/** Adds both functions to the search of the theme. */
export function rankSearch(siteData: Ref<SiteData>): void {
  const { base, themeConfig } = siteData.value;
  const searchOptions = {
    boostDocument: (id: string, _: string, { titles }: { titles?: string[] } = {}) =>
      weightOf(id, base, !titles?.length),
    processTerm: askedFor,
  };
  siteData.value = {
    ...siteData.value,
    themeConfig: { ...themeConfig, search: { provider: 'local', options: { miniSearch: { searchOptions } } } },
  };
}
