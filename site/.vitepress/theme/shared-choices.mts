/** A tab that a reader chooses, such as Prisma, is chosen in each group of the page that has it. */
function shareChoice({ target, isTrusted }: Event): void {
  const chosen = target as HTMLInputElement;
  if (!isTrusted || !chosen.matches('.vp-code-group input')) return;
  const top = topOf(chosen);
  for (const input of document.querySelectorAll<HTMLInputElement>('.vp-code-group input'))
    if (!input.checked && titleOf(input) === titleOf(chosen)) input.click();
  // What changed above must not move the tab away from the reader.
  window.scrollBy(0, topOf(chosen) - top);
}

const titleOf = ({ labels }: HTMLInputElement): string | undefined => labels?.[0]?.dataset.title;

const topOf = ({ labels }: HTMLInputElement): number => labels![0]!.getBoundingClientRect().top;

// The pages are also drawn without a browser.
if (typeof window !== 'undefined') window.addEventListener('change', shareChoice);
