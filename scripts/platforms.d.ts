// The packages of the platforms, which are not installed here.
declare module '@fencelink/*';
