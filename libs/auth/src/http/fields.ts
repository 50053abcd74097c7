import { IsDefined, IsObject, IsOptional, IsString, ValidateBy } from 'class-validator';
import { applyDecorators } from '@nestjs/common';
import { isEmailAddress } from './email-address';
import { isLongerThan } from './text-length';

/** Longest text field of any request, in characters. */
export const FIELD_MAX = 255;

const USERNAME = Symbol('svc.username-field');

const isShort = (value: unknown): boolean => typeof value === 'string' && !isLongerThan(value, FIELD_MAX);

/** A rule of our own: the library below does not count variation selectors, of which a text may be made. */
const Short = (): PropertyDecorator => ValidateBy({ name: 'maxLength', validator: { validate: isShort } });

/** A string of at most {@link FIELD_MAX} characters that may be absent. */
export const OptionalText = (): PropertyDecorator => applyDecorators(IsOptional(), IsString(), Short());

/** A string of at most {@link FIELD_MAX} characters that must be there. */
export const RequiredText = (): PropertyDecorator => applyDecorators(IsDefined(), IsString(), Short());

/** An email address that must be there: see {@link isEmailAddress}. */
export const RequiredEmail = (): PropertyDecorator =>
  applyDecorators(RequiredText(), ValidateBy({ name: 'isEmail', validator: { validate: isEmailAddress } }));

/** A string that must be there, such as a token: as long as a body may be. */
export const RequiredString = (): PropertyDecorator => applyDecorators(IsDefined(), IsString());

/** A JSON object, whatever is in it. */
export const RequiredObject = (): PropertyDecorator => applyDecorators(IsDefined(), IsObject());

/** A JSON object that may be absent. */
export const OptionalObject = (): PropertyDecorator => applyDecorators(IsOptional(), IsObject());

/** Marks the property that travels under the realm's `username` name, in requests and in errors. */
export const UsernameField = (): PropertyDecorator => (target, property) => {
  Reflect.defineMetadata(USERNAME, property, target.constructor);
};

/** The wire name of a request property. */
export const wireName = (type: object, property: string, username: string): string =>
  Reflect.getMetadata(USERNAME, type) === property ? username : property;

/** A field as texts name it. */
export const named = (field: string): string => field.replaceAll('_', ' ');
