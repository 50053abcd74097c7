import {
  type CanActivate,
  type ExecutionContext,
  ForbiddenException,
  type INestApplication,
  Module,
} from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AbilitiesGuard, AccessTokenGuard } from '@svc/auth';
import express from 'express';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import agent from 'supertest';
import type { TestAppOptions } from '../support/hosts/app';
import { member, startMembers } from '../support/hosts/members';
import { ADA, PASSWORD } from '../support/hosts/user-entities';
import { SecurityLines } from '../support/views/security-lines';

const SIGN_IN = { email: ADA, password: PASSWORD };

async function start(more: TestAppOptions, options = {}) {
  const { t } = await startMembers(options, more);
  await member(t, ADA);
  return t;
}

/** The head of the answer to a login with a request target that no client of Node.js sends. */
async function headOf(port: number, target: string): Promise<string> {
  const body = JSON.stringify(SIGN_IN);
  const socket = connect(port, '127.0.0.1');
  const fields = ['Host: x', 'Content-Type: application/json', `Content-Length: ${body.length}`, 'Connection: close'];
  socket.write([`POST ${target} HTTP/1.1`, ...fields, '', body].join('\r\n'));
  return (await text(socket)).split('\r\n\r\n', 1)[0]!;
}

describe('an answer with tokens forbids caching', () => {
  it('below another application of Express, whose path the request has', async () => {
    const t = await start({ fastify: false });
    const parent = express();
    parent.use('/api', t.app.getHttpAdapter().getInstance() as express.Express);
    const { headers } = await agent(parent).post('/api/auth/login').send(SIGN_IN).expect(200);
    expect(headers).toMatchObject({ 'cache-control': 'no-store, private', 'x-content-type-options': 'nosniff' });
    expect(headers.etag).toBeUndefined();
    const refused = await agent(parent).get('/api/auth/sessions').expect(401);
    expect(refused.headers['cache-control']).toBe('no-store, private');
    await t.stop();
  });

  it('after a middleware of the host that has changed the path', async () => {
    const shorten = (request: IncomingMessage, _: unknown, next: () => void): void => {
      request.url = request.url!.replace(/^\/api/, '');
      next();
    };
    const prepare = (app: INestApplication): void => void app.use(shorten);
    const t = await start({ fastify: false, prepare });
    const { headers } = await t.http.post('/api/auth/login').send(SIGN_IN).expect(200);
    expect(headers['cache-control']).toBe('no-store, private');
    await t.stop();
  });

  it.each([false, true])('below a prefix with a parameter (Fastify: %s)', async (fastify) => {
    const t = await start({ fastify, prepare: (app) => void app.setGlobalPrefix(':tenant') });
    const { headers } = await t.http.post('/acme/auth/login').send(SIGN_IN).expect(200);
    expect(headers['cache-control']).toBe('no-store, private');
    await t.stop();
  });

  it.each([false, true])(
    'to a request target with a fragment or in another spelling (Fastify: %s)',
    async (fastify) => {
      const t = await start({ fastify });
      const { port } = t.app.getHttpServer().address();
      const targets = ['/auth/login#x', '/AUTH/login/', 'http://x/auth/login#y', '/auth/login?x=%', '/auth/login?#'];
      let answered = 0;
      for (const target of targets) {
        const head = await headOf(port, target);
        if (!head.startsWith('HTTP/1.1 200')) continue;
        answered++;
        expect([target, head.toLowerCase()]).toEqual([
          target,
          expect.stringContaining('cache-control: no-store, private'),
        ]);
      }
      expect(answered).toBeGreaterThanOrEqual(3);
      await t.stop();
    },
  );
});

describe('a request to a route of the library that a further guard refuses', () => {
  class Closed implements CanActivate {
    canActivate(context: ExecutionContext): boolean {
      if (context.switchToHttp().getRequest<IncomingMessage>().headers['x-closed']) throw new ForbiddenException();
      return true;
    }
  }

  /** The events of the security log for a list of sessions. */
  async function eventsWith(guard: object, headers: Record<string, string>): Promise<string[]> {
    const log = new SecurityLines();
    @Module({ providers: [{ provide: APP_GUARD, useExisting: AccessTokenGuard }, guard as never] })
    class Guards {}
    const options = { ...log.options, hooks: { abilities: () => [] } };
    const t = await start({ fastify: false, imports: [Guards] }, options);
    const { body } = await t.http.post('/auth/login').send(SIGN_IN).expect(200);
    const lines = await log.during(async () => {
      await t.get('/auth/sessions', body.access_token).set(headers).expect(403);
    });
    await t.stop();
    return lines.map(({ event }) => event as string);
  }

  it('has one line in the security log if the guard is of the library', async () => {
    const guard = { provide: APP_GUARD, useClass: AbilitiesGuard('orders.read') };
    expect(await eventsWith(guard, {})).toEqual(['auth.guard.refused']);
  });

  it('has none if the guard is of the host, which writes its own', async () => {
    expect(await eventsWith({ provide: APP_GUARD, useClass: Closed }, { 'x-closed': '1' })).toEqual([]);
  });
});
