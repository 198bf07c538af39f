import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from '../load.mjs';

const { token_of } = await load('token.ts');

test('a token is taken from what was pasted', () => {
  assert.equal(token_of(' a-secret-that-nobody-knows\n'), 'a-secret-that-nobody-knows');
  assert.equal(token_of('http://bench3:7878/#token=0123456789abcdef'), '0123456789abcdef');
  assert.equal(token_of('The viewer is at  https://bench3/?quality=low#token=0123456789abcdef '), '0123456789abcdef');
  assert.equal(token_of('http://bench3/#token=a%2Bb'), 'a+b');
  assert.equal(token_of('   '), '');
});
