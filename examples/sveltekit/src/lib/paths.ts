/** A path of this application, as a link or a form names it. The address of another site, such as `//host`, is none. */
export const pathOf = (text: unknown): string =>
  typeof text === 'string' && /^\/(?![/\\])[!-~]*$/.test(text) ? text : '/account';
