/**
 * The text of an id that code of the host passes. An absent id would name no row, and a call that ends sessions or removes a
 * factor would succeed without an effect.
 *
 * @param id a text that is not empty, a whole number, or a bigint
 * @param name of the parameter, for the message
 * @throws TypeError for any other value
 */
export function idText(id: unknown, name: string): string {
  const isId = typeof id === 'string' ? id !== '' : typeof id === 'bigint' || Number.isSafeInteger(id);
  if (isId) return String(id);
  const given = id === '' ? 'an empty text' : id === null ? 'null' : typeof id;
  throw new TypeError(`${name} is ${given}. Pass an id: a text, or a whole number.`);
}
