import { createRequire } from 'node:module';

/** The packages that are loaded at run time, if the host has them. */
export type PeerName =
  | '@nestjs/event-emitter'
  | '@nestjs/microservices'
  | '@nestjs/schedule'
  | '@nestjs/typeorm'
  | '@nestjs/websockets'
  | '@node-rs/argon2'
  | '@opentelemetry/api'
  | '@redis/client'
  | '@simplewebauthn/server'
  | '@simplewebauthn/server/helpers'
  | 'argon2'
  | 'bcrypt'
  | 'bcryptjs'
  | 'class-validator'
  | 'cron'
  | 'jose'
  | 'nest-commander'
  | 'nodemailer'
  | 'openid-client'
  | 'otplib'
  | 'pg'
  | 'redis'
  | 'typeorm';

/**
 * Loads an optional package. Returns undefined when the host has not installed it.
 *
 * Each name is written as a literal: a bundler includes the packages that it finds. It accepts that a package is missing,
 * because the call is in a `try` block of the same function.
 */
export function optionalPeer<Exports>(name: PeerName): Exports | undefined;
export function optionalPeer(name: PeerName): unknown {
  try {
    switch (name) {
      case '@nestjs/event-emitter':
        return require('@nestjs/event-emitter');
      case '@nestjs/microservices':
        return require('@nestjs/microservices');
      case '@nestjs/schedule':
        return require('@nestjs/schedule');
      case '@nestjs/typeorm':
        return require('@nestjs/typeorm');
      case '@nestjs/websockets':
        return require('@nestjs/websockets');
      case '@node-rs/argon2':
        return require('@node-rs/argon2');
      case '@opentelemetry/api':
        return require('@opentelemetry/api');
      case '@redis/client':
        return require('@redis/client');
      case '@simplewebauthn/server':
        return require('@simplewebauthn/server');
      case '@simplewebauthn/server/helpers':
        return require('@simplewebauthn/server/helpers');
      case 'argon2':
        return require('argon2');
      case 'bcrypt':
        return require('bcrypt');
      case 'bcryptjs':
        return require('bcryptjs');
      case 'class-validator':
        return require('class-validator');
      case 'cron':
        return require('cron');
      case 'jose':
        return require('jose');
      case 'nest-commander':
        return require('nest-commander');
      case 'nodemailer':
        return require('nodemailer');
      case 'openid-client':
        return require('openid-client');
      case 'otplib':
        return require('otplib');
      case 'pg':
        return require('pg');
      case 'redis':
        return require('redis');
      case 'typeorm':
        return require('typeorm');
    }
  } catch (error) {
    // An installed package that fails to load is an error, not an absent one.
    if ((error as { code?: unknown }).code !== 'MODULE_NOT_FOUND') throw error;
    return undefined;
  }
}

/** Whether the host has an optional package. It is not loaded if it is in a folder of packages; in a bundle it is. */
export function hasPeer(name: PeerName): boolean {
  try {
    return Boolean(createRequire(__filename).resolve(name));
  } catch {
    return optionalPeer(name) !== undefined;
  }
}

/** Loads `name`, a dependency of the optional peer `peer`. Returns undefined when either is not installed. */
export function broughtBy<Exports>(peer: PeerName, name: PeerName): Exports | undefined {
  try {
    const required = createRequire(__filename);
    return createRequire(required.resolve(peer))(name) as Exports;
  } catch {
    return optionalPeer<Exports>(name);
  }
}
