import type { MarkdownRenderer } from 'vitepress';

const GROUP = /^<!-- tabs -->\n([^]*?)^<!-- \/tabs -->$/gm;

/** A label, and the block below it. */
const TAB = /^\*\*(.+)\*\*\n\n```(\w+)$/gm;

/**
 * A group of code blocks of which a reader needs one becomes a group of tabs. In the repository, whose host has no tabs, each block
 * has its label above it: the marks are comments there.
 */
export function withTabs(markdown: MarkdownRenderer): void {
  markdown.core.ruler.before('normalize', 'tabs', (state) => {
    state.src = state.src.replaceAll(
      GROUP,
      (_, blocks: string) => `::: code-group\n${blocks.replaceAll(TAB, '```$2 [$1]')}\n:::`,
    );
  });
}
