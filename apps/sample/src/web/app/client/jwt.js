/** Decodes one part of a JWT (RFC 7519): base64url, JSON. */
function decodePart(part) {
  const bytes = Uint8Array.from(atob(part.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes));
}

/** Reads a token without verifying its signature: only the server decides whether a token is valid. */
export function decode(token) {
  const [header, payload] = token.split('.');
  return { header: decodePart(header), payload: decodePart(payload) };
}
