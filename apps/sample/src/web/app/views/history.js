import { auth } from '../auth.js';
import { badge } from '../items.js';
import { deviceOf } from '../device-name.js';
import { WITHOUT_ZONE, ago, h, time } from '../dom.js';
import { capital } from '../event-name.js';
import { button } from '../feedback.js';
import { t } from '../language.js';
import { stylesheet } from '../stylesheet.js';
import { detailOf, isTheft, linesBefore, titleOf } from './history-lines.js';

await stylesheet('session.css');

/** What two lines have in common that are one row: all that the row says. */
const kindOf = (line) =>
  [line.at.slice(0, 'yyyy-mm-ddThh:mm'.length), titleOf(line), detailOf(line), line.ip, line.user_agent].join();

/** @param times how often it happened in this minute */
const row = (line, times) =>
  h(
    'li',
    { class: isTheft(line) && 'bad' },
    h(
      'div',
      {},
      h('strong', {}, titleOf(line)),
      times > 1 && badge(`× ${times}`),
      h(
        'p',
        { class: 'muted parts' },
        [detailOf(line), line.user_agent && deviceOf(line.user_agent), line.ip]
          .filter(Boolean)
          .map((part) => h('span', {}, capital(part))),
      ),
    ),
    h('p', { class: 'when' }, time(line.at, WITHOUT_ZONE), ago(line.at)),
  );

/** What happened to the account, newest first, as the server keeps it. */
export async function history() {
  const list = h('ol', { class: 'orders', 'aria-label': t`What happened to your account` });
  let next;
  let last;
  let times = 0;
  const page = (before) => auth.request('GET', `/auth/history${before ? `?before=${before}` : ''}`);
  const read = async () => {
    const { lines, ...rest } = await linesBefore(page, next);
    for (const line of lines) {
      times = last === kindOf(line) ? times + 1 : 1;
      last = kindOf(line);
      const shown = row(line, times);
      if (times > 1) list.lastChild.replaceWith(shown);
      else list.append(shown);
    }
    next = rest.next;
    more.hidden = !next;
  };
  const more = button(t`Show older entries`, read);
  await read();
  return [
    h(
      'p',
      { class: 'muted' },
      t`What happened to your account, and from where. Don’t recognize something? Change your password.`,
    ),
    h('section', { class: 'card', 'aria-label': t`What happened to your account` }, list, more),
  ];
}
