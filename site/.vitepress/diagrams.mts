import { renderMermaidSVG } from 'beautiful-mermaid';
import type { MarkdownRenderer } from 'vitepress';

/** The colours of the theme, which change with its mode. */
const COLORS = {
  bg: 'var(--vp-c-bg)',
  fg: 'var(--vp-c-text-1)',
  muted: 'var(--vp-c-text-2)',
  line: 'var(--vp-c-text-3)',
  border: 'var(--vp-c-text-3)',
  transparent: true,
  font: 'system-ui',
};

/** The renderer adds a font of another host, which the policy of the site does not allow. */
const FONT = /@import [^\n]*\n/g;

/** Draws the diagrams of the pages (Mermaid) when the site is built, so that a reader needs no script for them. */
export function withDiagrams(markdown: MarkdownRenderer): void {
  const fence = markdown.renderer.rules.fence!;
  markdown.renderer.rules.fence = (tokens, i, options, env, self) => {
    const { info, content } = tokens[i]!;
    if (info.trim() !== 'mermaid') return fence(tokens, i, options, env, self);
    const svg = renderMermaidSVG(content.trim(), COLORS).replaceAll(FONT, '');
    // Vue ignores a style in a template, but not in the value of `v-html`.
    const value = markdown.utils.escapeHtml(JSON.stringify(svg));
    const text = markdown.utils.escapeHtml(content.trim());
    return `<figure class="diagram"><div aria-hidden="true" v-html="${value}"></div><details><summary>As text</summary><pre v-pre>${text}</pre></details></figure>`;
  };
}
