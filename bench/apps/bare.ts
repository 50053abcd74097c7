// The least work without a framework and without the library. BENCH_VARIANT: the connections to PostgreSQL.
import { BareSessions } from './bare-sessions';
import { ANSWER, type Answer, type Tokens, bodyOf, servePlain } from './serve';

const UNAUTHORIZED: Answer = [401, { message: 'Unauthorized' }];

async function main(): Promise<void> {
  const sessions = await BareSessions.open(process.env.BENCH_VARIANT as 'pool' | 'pipelined');
  servePlain(async (request, path, query) => {
    if (path === '/guarded')
      return (await sessions.authenticate(request.headers.authorization)) ? [200, ANSWER] : UNAUTHORIZED;
    if (path === '/sessions') return [200, await sessions.start(Number(query.get('count')))];
    if (path !== '/refresh') return [404, {}];
    const { refresh_token: token } = JSON.parse(await bodyOf(request)) as Tokens;
    const [tokens] = await Promise.all([sessions.refresh(token), sessions.count(request.socket.remoteAddress!)]);
    return tokens ? [200, tokens] : UNAUTHORIZED;
  });
}

void main();
