import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { apiSidebar } from './api.mts';
import { withPolicy } from './content-security-policy.mts';
import { withDiagrams } from './diagrams.mts';
import { adaptedToSite, slugify } from './links.mts';
import { pathOnSite, sidebar, srcExclude, withOpenGroup } from './pages.mts';
import { withTabs } from './tabs.mts';
import { REPOSITORY, ROOT, VERSION, read } from '../repository.mjs';

/** The icon of the sample, in each page: only what an address cannot contain is escaped. */
const icon = encodeURIComponent(read('apps/sample/src/web/app/icon.svg').trim()).replaceAll(
  /%(?:20|2C|2F|3A|3D)/g,
  decodeURIComponent,
);

/** The folders of older versions that are kept beside this one: `["v0.1"]`. */
const kept: string[] = JSON.parse(read('site/versions.json'));

/** The pages are outside of this folder, in which their modules have to find Vue. */
const packagesOfSite = {
  name: 'packages-of-site',
  enforce: 'pre' as const,
  resolveId(this: { resolve: (...values: unknown[]) => unknown }, name: string, _: unknown, options: object) {
    if (/^vue(\/|$)/.test(name)) return this.resolve(name, join(ROOT, 'site/index.md'), { ...options, skipSelf: true });
  },
};

/** Only a script draws the page for missing pages, the one page without content: `NotFound.vue`. */
const withNotFound = (html: string, base: string): string =>
  html.replace(
    '<div id="app"></div>',
    `$&<noscript><h1>Page not found</h1><p><a href="${base}contents.html">All pages of the documentation</a></p></noscript>`,
  );

export default defineConfig({
  lang: 'en',
  title: '@svc/auth',
  description: 'Token authentication for NestJS: sessions that rotate, revoke and fail closed.',
  head: [
    ['link', { rel: 'icon', href: `data:image/svg+xml,${icon}` }],
    ['meta', { name: 'referrer', content: 'no-referrer' }],
  ],
  srcDir: '..',
  srcExclude,
  rewrites: (page) => pathOnSite(page) ?? page,
  // Examples for `localhost` are no links of the site.
  ignoreDeadLinks: 'localhostLinks',
  router: { prefetchLinks: false },
  // The data of all pages are in a file that browsers keep, instead of in every page.
  metaChunk: true,
  markdown: {
    // The other themes have too little contrast.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify },
    toc: { slugify },
    config(markdown) {
      adaptedToSite(markdown);
      withDiagrams(markdown);
      withTabs(markdown);
    },
    languageAlias: { env: 'dotenv' },
  },
  // The pages of the API reference have no order, and a pager in each is a quarter of a megabyte.
  transformPageData: ({ relativePath, frontmatter }) =>
    relativePath.startsWith('api/') ? { frontmatter: { ...frontmatter, prev: false, next: false } } : undefined,
  transformHtml: (html, _, { pageData, siteData: { base } }) =>
    withPolicy(withOpenGroup(withNotFound(html, base), base + pageData.relativePath.replace(/md$/, 'html'))),
  vite: {
    plugins: [packagesOfSite as never],
    resolve: {
      alias: [{ find: /^.*\/VPHome\.vue$/, replacement: fileURLToPath(new URL('./theme/Home.vue', import.meta.url)) }],
    },
    server: { host: '127.0.0.1' },
  },
  themeConfig: {
    version: VERSION,
    outline: [2, 3],
    search: { provider: 'local' },
    externalLinkIcon: true,
    sidebar: { '/': sidebar(), '/api/': apiSidebar() },
    nav: [
      { text: 'Quick start', link: '/quick-start' },
      { text: 'Contents', link: '/contents' },
      { text: 'API', link: '/api/' },
      {
        text: VERSION,
        items: [
          { text: 'Changelog', link: '/changelog' },
          { text: 'Support and versions', link: '/support' },
          { text: 'Contributing', link: '/contributing' },
          ...kept.map((folder) => ({ text: folder, link: `/${folder}/`, target: '_self' })),
        ],
      },
      { text: 'Source', link: REPOSITORY },
    ],
  },
});
