import { type INestApplication, Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import express from 'express';
import type { IncomingMessage, ServerResponse } from 'node:http';
import request from 'supertest';
import { HostModule } from '../support/hosts/host.module';
import { createDatabase } from '../support/stores/database';

type Parser = (request: IncomingMessage & { body?: unknown }, response: ServerResponse, next: () => void) => void;

/** A parser without a library. */
const own: Parser = (received, _, next) => {
  let text = '';
  received.on('data', (part) => (text += part));
  received.once('end', () => {
    received.body = JSON.parse(text);
    next();
  });
};

/** Reads the stream and keeps nothing, as a proxy does. */
const reader: Parser = (received, _, next) => void received.resume().once('end', next);

describe('an application without the body parsers of Nest', () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let app: INestApplication;

  beforeAll(async () => void (database = await createDatabase()));
  afterEach(() => app.close());
  afterAll(() => database.drop());

  it.each<[string, Parser | undefined, status: number, warnings: number]>([
    ['no other', undefined, 415, 1],
    ['something that reads the body and keeps nothing', reader, 415, 1],
    ['express.json()', express.json() as Parser, 422, 0],
    ['a parser of its own', own, 422, 0],
  ])('and with %s', async (_, parser, status, warnings) => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    app = await NestFactory.create(HostModule.with(database.url, {}), { bodyParser: false, logger: false });
    if (parser) app.use(parser);
    await app.init();
    for (let round = 0; round < 2; round++) {
      const { status: answered, body } = await request(app.getHttpServer())
        .post('/auth/login')
        .send({ email: 'ada@example.com', password: 'wrong' });
      expect([answered, body.errors?.email]).toEqual([
        status,
        status === 422 ? ['These credentials do not match our records.'] : undefined,
      ]);
    }
    const texts = warn.mock.calls.filter(([text]) =>
      /no parser of the application.*bodyParser: false/.test(String(text)),
    );
    expect(texts).toHaveLength(warnings);
  });
});
