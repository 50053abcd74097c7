/** The settings of the server: `PageConfig`. */
export const config = await fetch('/web/config').then((response) => response.json());
