/**
 * Whether a client would rather have JSON than a page: the type it likes best decides, the first of equals. A
 * browser names text/html; what names nothing is taken for one.
 */
export function prefersJson(accept: string | undefined): boolean {
  const ranges = (accept ?? '*/*').split(',').map((range) => {
    const [type = '', ...params] = range.split(';').map((part) => part.trim().toLowerCase());
    const q = params.find((param) => param.startsWith('q='));
    return { type, q: q === undefined ? 1 : Number(q.slice(2)) || 0 };
  });
  const best = ranges.reduce((liked, range) => (range.q > liked.q ? range : liked));
  return /^application\/([\w.-]+\+)?json$/.test(best.type);
}
