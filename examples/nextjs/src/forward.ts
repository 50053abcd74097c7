/** The API sees the origin of the page and its cookie, and decides. */
export { send as forward } from './send';
