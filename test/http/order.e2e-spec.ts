import { Controller, Post } from '@nestjs/common';
import {
  Abilities,
  Authenticated,
  RequireConfirmation,
  RequireVerifiedEmail,
  Throttled,
  UserProvider,
} from '@svc/auth';
import { randomUUID } from 'node:crypto';
import { Realms } from '../../libs/auth/src/realm/realm';
import { confirm, HEADER, startConfirming } from '../support/confirming';

@Controller('one-way')
class OneWay {
  @Post()
  @Authenticated()
  @Abilities('a')
  @Throttled('once')
  @RequireConfirmation()
  @RequireVerifiedEmail()
  any() {
    return {};
  }
}

@Controller('other-way')
@RequireVerifiedEmail()
@Throttled('once')
class OtherWay {
  @Post()
  @RequireConfirmation()
  @Abilities('a')
  @Authenticated()
  any() {
    return {};
  }
}

describe.each(['/one-way', '/other-way'])('the gates of a route that has them all, at %s', (path) => {
  it('are passed in one order: 401, 403, 429, 423, 409', async () => {
    const t = await startConfirming(
      {
        keyPrefix: `${randomUUID()}:`,
        rateLimits: { limiters: { once: (request) => ({ key: round(request), maxAttempts: 1, decaySeconds: 60 }) } },
      },
      [OneWay, OtherWay],
    );
    const round = (request: unknown): string => (request as { headers: { round: string } }).headers.round;
    let verified = false;
    jest.spyOn(t.app.get(Realms).default.get(UserProvider), 'isEmailVerified').mockImplementation(() => verified);
    const session = async (abilities: string[]): Promise<string> =>
      (await t.auth.startSession(1, {}, abilities)).accessToken;
    const [poor, rich] = [await session(['svc.account']), await session(['a', 'svc.account'])];
    const { confirmation_token: proof } = (await confirm(t, rich).expect(200)).body;
    let n = 0;
    const call = (token?: string, header?: string, which = String(n++)) => {
      const request = t.http.post(path).set('Round', which);
      if (token) request.set('Authorization', `Bearer ${token}`);
      return header ? request.set(HEADER, header) : request;
    };

    // Refused by an earlier gate, so not counted by the limiter, time and again.
    for (let i = 0; i < 2; i++) await call(undefined, undefined, 'same').expect(401);
    for (let i = 0; i < 2; i++) await call(poor, proof, 'same').expect(403);
    await call(rich, undefined, 'same').expect(423);
    await call(rich, undefined, 'same').expect(429);
    await call(rich, proof, 'same').expect(429);
    await call(rich).expect(423);
    await call(rich, proof).expect(409);
    verified = true;
    await call(rich, proof).expect(201);
    await t.stop();
  });
});
