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
  it('is the HTTP request, whatever the option returns', () => {
    const request = { headers };
    const context = contextOf('http', request, {});
    expect(findRequest(context, () => ({ headers: {} }))).toBe(request);
    expect(requestOf(context)).toBe(request);
  });

  it.each([
    ['in the context of Nest', { req: { headers } }],
    ['in the context of Mercurius', { request: { headers } }],
  ])('is the HTTP request for GraphQL, %s', (_, value) => {
    const request = Object.values(value)[0];
    expect(findRequest(contextOf('graphql', {}, {}, value, {}))).toBe(request);
    expect(findRequest(contextOf('graphql', {}, value, {}))).toBe(request);
  });

  it.each([
    ['the upgrade request', 'graphql', [{}, {}, { req: upgrade }, {}], '198.18.0.1'],
    ['graphql-ws', 'graphql', [{}, {}, { req: { extra: { request: upgrade } } }, {}], '198.18.0.1'],
    ['ws', 'ws', [{ request: upgrade }, {}, 'pattern'], '198.18.0.1'],
    ['socket.io', 'ws', [{ handshake: { headers, address: '198.18.0.2' } }, {}, 'pattern'], '198.18.0.2'],
  ])('is a new object for each call over a socket: %s', (_, type, args, ip) => {
    const [one, other] = [contextOf(type, ...args), contextOf(type, ...args)].map((context) => findRequest(context));
    expect(one).toBeInstanceOf(CarriedRequest);
    expect(one).toMatchObject({ headers, ip });
    expect(other).not.toBe(one);
  });

  it.each([
    ['socket.io', 'ws', [{ handshake: { headers }, request: { rawHeaders: ['A', 'b'] } }, {}, 'pattern']],
    ['ws', 'ws', [{ request: { ...upgrade, rawHeaders: ['A', 'b'] } }, {}, 'pattern']],
    ['the upgrade request', 'graphql', [{}, {}, { req: { ...upgrade, rawHeaders: ['A', 'b'] } }, {}]],
    [
      'the upgrade request of Fastify',
      'graphql',
      [{}, {}, { req: { ...upgrade, raw: { rawHeaders: ['A', 'b'] } } }, {}],
    ],
  ])('has the headers as received, which show repeated ones: %s', (_, type, args) => {
    expect(findRequest(contextOf(type, ...args))).toMatchObject({ rawHeaders: ['A', 'b'] });
  });

  it('is the value of the option, if it returns one', () => {
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
  ])('is missing in a %s context such as %j', (type, args) => {
    expect(() => findRequest(contextOf(type, ...args))).toThrow(AuthConfigError);
  });
});

describe('the request that a guard has found for a call', () => {
  it.each([
    ['GraphQL', 'graphql', [{}, {}, { req: upgrade }, { info: 1 }]],
    ['a gateway', 'ws', [{ request: upgrade }, 'text', 'pattern']],
  ])('is the same object for the whole call: %s', (_, type, args) => {
    const context = contextOf(type, ...args);
    const found = requestOfCall(context);
    expect(requestOfCall(context)).toBe(found);
    // Nest makes a separate context for parameters.
    expect(requestOf(contextOf(type, ...context.getArgs()))).toBe(found);
  });

  it('does not move client, data and pattern of a message', () => {
    const client = { request: upgrade };
    const context = contextOf('ws', client, 'text', 'pattern');
    requestOfCall(context);
    expect([0, 1].map((i) => context.getArgByIndex(i))).toEqual([client, 'text']);
    expect(context.switchToWs().getPattern()).toBe('pattern');
  });

  it('is the request of the operation for nested fields', () => {
    const value = { req: upgrade };
    const found = requestOfCall(contextOf('graphql', {}, {}, value, { info: 1 }));
    expect(requestOf(contextOf('graphql', {}, {}, value, { info: 2 }))).toBe(found);
  });

  it('is undefined without a guard', () => {
    for (const context of [contextOf('ws', {}, {}, 'pattern'), contextOf('graphql', {}, {}, {}, {}), contextOf('rpc')])
      expect(requestOf(context)).toBeUndefined();
  });
});
