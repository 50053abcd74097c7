import { serverNameIn } from './redis-client';

describe('the name of a server', () => {
  it.each<[string, string, string | null]>([
    [
      'the process and the history of its data',
      'run_id:p1\r\nrole:master\r\nmaster_replid:h1\r\nmaster_replid2:h0',
      'p1:h1',
    ],
    ['different for the same process with other data', 'run_id:p1\r\nrole:master\r\nmaster_replid:h2', 'p1:h2'],
    ['null for a replica', 'run_id:p1\r\nrole:slave\r\nmaster_replid:h1', null],
    ['the process only', 'redis_version:7\r\nrun_id:p1\r\nexecutable:/x', 'p1'],
    ['empty without the fields', 'redis_version:7', ''],
    ['empty for an empty text', '', ''],
  ])('is %s', (_, info, name) => expect(serverNameIn(info)).toBe(name));
});
