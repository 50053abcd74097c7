import { openDialog } from '../dialog.js';

/** What the operator is asked about: `{ action, account }`. A confirmation names it. */
export let concern;

/** Asks the operator. @param build as of `openDialog` @returns the result; null if the operator cancels or is signed out */
export const openQuestion = (title, build, leave) => openDialog(title, build, leave, 'question');

/** Asks about an action with an account. */
export function openConcern(title, account, build) {
  concern = { action: title.replace(/\?$/, ''), account };
  return openQuestion(title, build).finally(() => (concern = undefined));
}
