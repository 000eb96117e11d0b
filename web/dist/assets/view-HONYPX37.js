import{e as n}from"./chunk-AEMJEILJ.js";function o(){return n("h1",{children:"Playground"})}export{o as View};
