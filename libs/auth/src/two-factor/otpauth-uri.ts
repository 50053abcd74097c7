/**
 * The URI that authenticator apps read as a QR code (the "Key Uri Format").
 *
 * @param issuer who asks for the codes
 * @param holder the account, as its owner knows it
 * @param secret base32
 */
export function otpauthUri(issuer: string, holder: string, secret: string): string {
  const [who, whose] = [segment(issuer), segment(holder)];
  // Percent-encoded, also in the query: apps show a "+" as it is.
  return `otpauth://totp/${who}:${whose}?secret=${secret}&issuer=${who}&algorithm=SHA1&digits=6&period=30`;
}

/** The colon parts issuer and holder, in any encoding, so neither may contain one. */
const segment = (text: string): string => encodeURIComponent(text.replaceAll(/\s*:\s*/g, ' ').trim());
