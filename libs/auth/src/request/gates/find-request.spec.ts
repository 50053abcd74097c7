import type { ExecutionContext } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/internal';
import { AuthConfigError } from '../../foundation/platform/errors';
import { CarriedRequest } from '../../foundation/ports/handshake';
import { findRequest, requestOf, requestOfCall } from './route-guard';

const contextOf = (type: string, ...args: unknown[]): ExecutionContext => {
  const context = new ExecutionContextHost(args);
  context.setType(type);
  return context;
};
const headers = { authorization: 'Bearer x' };
const upgrade = { headers: { ...headers, upgrade: 'websocket' }, socket: { remoteAddress: '198.18.0.1' } };

describe('the request of a call', () => {
  it('is HTTP`s own, whatever the option says', () => {
    const request = { headers };
    const context = contextOf('http', request, {});
    expect(findRequest(context, () => ({ headers: {} }))).toBe(request);
    expect(requestOf(context)).toBe(request);
  });

  it.each([
    ['where Nest puts it', { req: { headers } }],
    ['where Mercurius puts it', { request: { headers } }],
  ])('is that of HTTP behind GraphQL, %s', (_, value) => {
    const request = Object.values(value)[0];
    expect(findRequest(contextOf('graphql', {}, {}, value, {}))).toBe(request);
    expect(findRequest(contextOf('graphql', {}, value, {}))).toBe(request);
  });

  it.each([
    ['the upgrade request', 'graphql', [{}, {}, { req: upgrade }, {}], '198.18.0.1'],
    ['graphql-ws', 'graphql', [{}, {}, { req: { extra: { request: upgrade } } }, {}], '198.18.0.1'],
    ['ws', 'ws', [{ request: upgrade }, {}, 'pattern'], '198.18.0.1'],
    ['socket.io', 'ws', [{ handshake: { headers, address: '198.18.0.2' } }, {}, 'pattern'], '198.18.0.2'],
  ])('is a new one for each call over a socket: %s', (_, type, args, ip) => {
    const [one, other] = [contextOf(type, ...args), contextOf(type, ...args)].map((context) => findRequest(context));
    expect(one).toBeInstanceOf(CarriedRequest);
    expect(one).toMatchObject({ headers, ip });
    expect(other).not.toBe(one);
  });

  it('is what the option returns, where it returns something', () => {
    const named = { headers, ip: '198.18.0.3' };
    expect(findRequest(contextOf('rpc', {}, {}), () => named)).toMatchObject(named);
    expect(findRequest(contextOf('graphql', {}, {}, { req: { headers: {} } }, {}), () => named)).toMatchObject(named);
    expect(findRequest(contextOf('graphql', {}, {}, { req: named }, {}), () => null)).toBe(named);
  });

  it.each([
    ['rpc', [{}, {}]],
    ['anything', []],
    ['graphql', [{}, {}, {}, {}]],
    ['graphql', [{}, {}, undefined, {}]],
    ['graphql', [{}, {}, { req: {} }, {}]],
    ['ws', [{}, {}, 'pattern']],
    ['ws', [{ request: {} }, {}, 'pattern']],
  ])('is missing in a context of %s like %j', (type, args) => {
    expect(() => findRequest(contextOf(type, ...args))).toThrow(AuthConfigError);
  });
});

describe('the request of a call that a guard has found', () => {
  it.each([
    ['GraphQL', 'graphql', [{}, {}, { req: upgrade }, { info: 1 }]],
    ['a gateway', 'ws', [{ request: upgrade }, 'text', 'pattern']],
  ])('is the same for everything about that call: %s', (_, type, args) => {
    const context = contextOf(type, ...args);
    const found = requestOfCall(context);
    expect(requestOfCall(context)).toBe(found);
    // Nest makes another context for parameters.
    expect(requestOf(contextOf(type, ...context.getArgs()))).toBe(found);
  });

  it('leaves client, data and pattern of a message where they were', () => {
    const client = { request: upgrade };
    const context = contextOf('ws', client, 'text', 'pattern');
    requestOfCall(context);
    expect([0, 1].map((i) => context.getArgByIndex(i))).toEqual([client, 'text']);
    expect(context.switchToWs().getPattern()).toBe('pattern');
  });

  it('is that of the operation for its nested fields', () => {
    const value = { req: upgrade };
    const found = requestOfCall(contextOf('graphql', {}, {}, value, { info: 1 }));
    expect(requestOf(contextOf('graphql', {}, {}, value, { info: 2 }))).toBe(found);
  });

  it('is none where no guard stood', () => {
    for (const context of [contextOf('ws', {}, {}, 'pattern'), contextOf('graphql', {}, {}, {}, {}), contextOf('rpc')])
      expect(requestOf(context)).toBeUndefined();
  });
});
