/** A text with a capital at its beginning. */
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** A name of the security log without a text of its own: `auth.two_factor_enrol.succeeded` is “Two factor enrol”. */
export const inWords = (name) =>
  capital(name.replace(/^auth\.|\.(succeeded|failed|challenged)$/g, '').replaceAll(/[._]/g, ' '));
