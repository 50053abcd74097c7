import { type ExecutionContext, Injectable, type PipeTransform, type Type, createParamDecorator } from '@nestjs/common';
import { type ValidationError, getMetadataStorage, validate } from 'class-validator';
import { ValidationFailed } from '../kernel/auth.exception';
import type { MessageKey, Text } from '../kernel/messages';
import { Realm } from '../realm/realm';
import { FIELD_MAX, named, wireName } from './fields';
import { ownField } from './own-field';

const MESSAGE_OF: Record<string, MessageKey> = {
  isDefined: 'validation.required',
  isString: 'validation.string',
  isObject: 'validation.object',
  maxLength: 'validation.max_length',
  isEmail: 'validation.email',
};

/**
 * Makes a request body an instance of its class: declared fields only, trimmed, empty ones null, each
 * checked. @throws ValidationFailed with the texts by wire name
 */
@Injectable()
abstract class BodyPipe implements PipeTransform {
  protected abstract readonly request: Type;

  constructor(private readonly realm: Realm) {}

  async transform(body: unknown): Promise<unknown> {
    const request = Object.assign(new this.request(), this.declared(body, this.request)) as object;
    const errors = await validate(request, { validationError: { target: false, value: false } });
    if (errors.length) throw new ValidationFailed(this.texts(errors, this.request));
    return request;
  }

  private declared(body: unknown, metatype: Type): Record<string, unknown> {
    const { username } = this.realm.options;
    return Object.fromEntries(
      fieldsOf(metatype).map((field) => [field, ownField(body, wireName(metatype, field, username))]),
    );
  }

  private texts(errors: ValidationError[], metatype: Type): Record<string, Text[]> {
    const entries = errors.map(({ property, constraints = {} }) => {
      const field = wireName(metatype, property, this.realm.options.username);
      const params = { field: named(field), max: FIELD_MAX };
      // A value that is absent or of the wrong type breaks every rule at once; only that is worth saying.
      const first = ['isDefined', 'isString', 'isObject', 'maxLength'].find((rule) => rule in constraints);
      const broken = first ? [first] : Object.keys(constraints);
      return [field, broken.map((rule) => ({ key: MESSAGE_OF[rule] ?? 'validation.invalid', params }))] as const;
    });
    return Object.fromEntries(entries);
  }
}

const fieldsOf = (metatype: Type): string[] => [...rulesOf(metatype).keys()];

/** The names of the rules that stand on each property of a request class. */
export function rulesOf(metatype: Type): ReadonlyMap<string, ReadonlySet<string>> {
  const rules = new Map<string, Set<string>>();
  const declared = getMetadataStorage().getTargetValidationMetadatas(metatype, '', false, false);
  for (const { propertyName, name, type } of declared)
    rules.set(propertyName, (rules.get(propertyName) ?? new Set()).add(name ?? type));
  return rules;
}

const BodyItself = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest().body,
);

/**
 * The request body as an instance of a class of ours. A decorator of its own and not Nest's `@Body()`:
 * a host's global `ValidationPipe` would judge that by its own rules, before ours and in another shape.
 */
export const RequestBody = (type: Type): ParameterDecorator => {
  @Injectable()
  class Pipe extends BodyPipe {
    static readonly request = type;
    protected override readonly request = type;
  }
  return BodyItself(Pipe);
};
