import { Field, ObjectType } from '@nestjs/graphql';
import { BaseModel } from '../../common/models/base.model.js';

@ObjectType()
export class Post extends BaseModel {
  @Field()
  title: string;

  @Field(() => String, { nullable: true })
  content?: string | null;

  @Field(() => Boolean)
  published: boolean;
}
